import { Command, Option } from 'commander'
import type { Kysely } from 'kysely'
import { findCredentials, noAccount } from '#src/accounts/user-queries.ts'
import { AUDIT_KINDS, type AuditKind } from '#src/data/audit-kinds.ts'
import { type AuditRecord, listRecords } from '#src/data/audit-queries.ts'
import type { Tables } from '#src/data/tables.ts'
import { isUuid } from '#src/lib/uuid.ts'
import { lookInDatabase } from './database.ts'
import { printable, readTime } from './table.ts'
import { withExamples } from './terminal.ts'

interface AuditOptions {
  user?: string
  kind?: AuditKind
  since?: Date
  json?: boolean
}

export const auditCommand = new Command('audit')
  .description('List the audit record of accounts, keys, releases and reference data, newest first.')
  .option('--user <account>', 'only this account: its e-mail, or the id of a deleted one')
  .addOption(new Option('--kind <kind>', 'only this kind').choices(Object.keys(AUDIT_KINDS)))
  .option('--since <time>', 'since this time, for example 2026-11-01 or 2026-11-01T08:30:00Z', readTime)
  .option('--json', 'print one JSON object a line')
  .action((options: AuditOptions) =>
    lookInDatabase(async ({ writer }) => {
      const { user, kind, since, json } = options
      const userId = user === undefined ? undefined : await idOf(writer, user)
      for await (const record of listRecords(writer, { userId, kind, since })) {
        // Whoever reads the first lines alone (`| head`) has closed the pipe.
        if (process.stdout.errored) return
        console.log(json ? JSON.stringify(record) : lineOf(record))
      }
    }),
  )

withExamples(
  auditCommand,
  'agro audit --user amina@example.org',
  'agro audit --kind login_failed --since 2026-11-01 --json',
)

async function idOf(db: Kysely<Tables>, account: string): Promise<string> {
  if (isUuid(account)) return account
  const found = await findCredentials(db, account)
  if (!found) throw noAccount(account)
  return found.id
}

/** What a person reads: the time, the kind, and what there is besides. */
function lineOf({ id: _, at, kind, userId, email, detail, ...rest }: AuditRecord): string {
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
  return printable([at, kind, ...members.map(([name, value]) => `${name}=${textOf(value)}`)].join(' '))
}

function textOf(value: unknown): string {
  return typeof value === 'string' && !/[\s"]/.test(value) ? value : JSON.stringify(value)
}
