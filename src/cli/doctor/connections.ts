import pg from 'pg'
import type { Group, Patient } from './examination.ts'
import { error, type Finding, note, ok, someNames, spanText, warning } from './finding.ts'
import { isOfThisMachine } from './secrets.ts'
import {
  type Blocked,
  countConnections,
  findEncryption,
  listBlocked,
  listOpenTransactions,
  type OpenTransaction,
} from './server-queries.ts'

/** Parts of the connections of a server from which on others may soon find none. */
const CROWDED = 0.8
const FULL = 0.95

/** Nothing of ours has a transaction open for so long, but for ingests and dumps. */
const LONG_SECONDS = 60
/** A lock that is waited for so long is none that requests take by turns. */
const BLOCKED_SECONDS = 5

/** The connections of a server and what they do to each other; the embedded database has one. */
export const connections: Group<Patient> = {
  group: 'connections',
  questions: {
    used: async ({ ask, config }) => {
      const { places, clients } = await ask(countConnections)
      const used = clients.reduce((sum, client) => sum + client.connections, 0)
      const names = clients.map(({ application, connections: count }) => `${application} ${count}`)
      const sentence = `${used} of ${places} connections are used: ${someNames(names)}.`
      const advice = 'Raise max_connections, pool with PgBouncer, or lower DATABASE_POOL_SIZE.'
      if (used > places * FULL) return [error(sentence, advice)]
      if (used > places * CROWDED) return [warning(sentence, advice)]
      if (config.DATABASE_POOL_SIZE > places) {
        return [
          warning(
            `A process of the service takes up to ${config.DATABASE_POOL_SIZE} of ${places} connections.`,
            advice,
          ),
        ]
      }
      return [ok(sentence)]
    },
    transactions: async ({ ask }) => {
      const open = await ask((trx) => listOpenTransactions(trx, LONG_SECONDS))
      return open.length === 0 ? [ok('No transaction is open for long.')] : open.map(transactionFinding)
    },
    locks: async ({ ask }) => {
      const blocked = await ask(listBlocked)
      return blocked.length === 0 ? [ok('No query waits for a lock.')] : blocked.map(blockedFinding)
    },
    encryption: async ({ ask, config }) => {
      const { host } = new pg.Client({ connectionString: config.DATABASE_URL })
      const encryption = await ask(findEncryption)
      if (encryption?.ssl) {
        return new URL(config.DATABASE_URL as string).searchParams.get('sslmode') === 'no-verify'
          ? [
              warning(
                'The connection to the database is encrypted, and any server is believed (sslmode=no-verify).',
                'Set sslmode=verify-full and sslrootcert.',
              ),
            ]
          : [ok(`The connection to the database is encrypted (${encryption.version}).`)]
      }
      if (isOfThisMachine(host)) return [ok('The connection to the database does not leave this machine.')]
      const sentence = `The connection to the database on ${host} is not encrypted.`
      // A name without dots is one of a network of containers.
      return host.includes('.')
        ? [warning(sentence, 'Add ?sslmode=verify-full to DATABASE_URL.')]
        : [note(sentence, 'Add ?sslmode=verify-full to DATABASE_URL where others share the network.')]
    },
  },
}

function transactionFinding({ pid, application, idle, seconds }: OpenTransaction): Finding {
  const sentence = `The transaction of ${application} (process ${pid}) has been open for ${spanText(seconds)}`
  if (!idle) return note(`${sentence}, and works.`)
  return warning(
    `${sentence}, and does nothing: it keeps dead rows from being cleaned up, and may hold locks.`,
    `If it is not needed, end it: select pg_terminate_backend(${pid}).`,
  )
}

function blockedFinding({ pid, application, seconds, blockers }: Blocked): Finding {
  const by = blockers.map(
    (blocker) => `${blocker.application} (process ${blocker.pid}, ${blocker.state ?? 'unknown'})`,
  )
  const sentence = `${application} (process ${pid}) has waited for ${spanText(seconds)} for a lock of ${someNames(by)}.`
  if (seconds < BLOCKED_SECONDS) return note(sentence)
  const [first] = blockers
  return warning(
    sentence,
    `Wait for it, or end what holds the lock${first ? `: select pg_terminate_backend(${first.pid})` : ''}.`,
  )
}
