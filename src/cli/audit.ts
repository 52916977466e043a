import { Option } from 'commander'
import { findCredentials, noAccount } from '#src/accounts/user-queries.ts'
import { AUDIT_KINDS, type AuditKind } from '#src/data/audit-kinds.ts'
import { type AuditRecord, listRecords } from '#src/data/audit-queries.ts'
import type { Db } from '#src/data/tables.ts'
import { isUuid } from '#src/lib/uuid.ts'
import { command } from './command.ts'
import { printable, readTime } from './table.ts'
import type { Output } from './terminal.ts'

interface AuditOptions extends Output {
  user?: string
  kind?: AuditKind
  since?: Date
}

export const auditCommand = command({
  usage: 'audit',
  description: 'List the audit record of accounts, keys, releases and reference data, newest first.',
  options: [
    ['--user <account>', 'only this account: its e-mail, or the id of a deleted one'],
    new Option('--kind <kind>', 'only this kind').choices(Object.keys(AUDIT_KINDS)),
    new Option('--since <time>', 'since this time, for example 2026-11-01 or 2026-11-01T08:30:00Z').argParser(
      readTime,
    ),
  ],
  examples: [
    'agro audit --user amina@example.org',
    'agro audit --kind login_failed --since 2026-11-01 --json',
  ],
  async look({ writer }, { user, kind, since, json }: AuditOptions) {
    const userId = user === undefined ? undefined : await findUserId(writer, user)
    // One list, of which one page is in memory.
    let before = '['
    for await (const record of listRecords(writer, { userId, kind, since })) {
      // `| head` has closed the pipe.
      if (process.stdout.errored) return undefined
      console.log(json ? before + JSON.stringify(record) : recordText(record))
      before = ','
    }
    if (json) console.log(before === '[' ? '[]' : ']')
    return undefined
  },
})

async function findUserId(db: Db, account: string): Promise<string> {
  if (isUuid(account)) return account
  const found = await findCredentials(db, account)
  if (!found) throw noAccount(account)
  return found.id
}

function recordText({ id: _, at, kind, userId, email, detail, ...rest }: AuditRecord): string {
  const { sessionId, keyId, network, requestId, operator } = rest
  const named = {
    user: email ?? userId,
    session: sessionId,
    by_key: keyId,
    network,
    request: requestId,
    operator,
    ...detail,
  }
  const members = Object.entries(named).filter(([, value]) => value !== null)
  return printable([at, kind, ...members.map(([name, value]) => `${name}=${valueText(value)}`)].join(' '))
}

function valueText(value: unknown): string {
  return typeof value === 'string' && !/[\s"]/.test(value) ? value : JSON.stringify(value)
}
