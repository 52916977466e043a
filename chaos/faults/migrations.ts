import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { withDatabase } from '#bench/service.ts'
import { migrate } from '#src/data/migrate.ts'
import { SQL_FOLDER } from '#src/data/reference.ts'
import { EVERYTHING } from '../load/plan.ts'
import { serverFault, serverOf } from './server.ts'

/** What a version after this one may do to tables that everybody uses. */
const MIGRATION = ['release', 'app_user', 'session', 'history_item']
  .map((table) => `alter table ${table} add column chaos text;`)
  .join('\n')

/** What it adds stays: this version goes on with a newer schema. */
const behindDump = serverFault(
  'migration-behind-dump',
  'a migration adds columns to four tables, which another session has locked for five seconds as a dump does',
  async (stage) => {
    const { connect, url } = serverOf(stage)
    const folder = mkdtempSync(join(tmpdir(), 'agro-chaos-sql-'))
    cpSync(SQL_FOLDER, folder, { recursive: true })
    writeFileSync(join(folder, 'migrations/9001_chaos.sql'), MIGRATION)
    const dump = await connect()
    const { rows } = await dump.query(
      `select string_agg(quote_ident(relname), ', ') as tables
    from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'`,
    )
    await dump.query(`begin; lock table ${rows[0].tables} in access share mode`)
    const migrated = withDatabase({ DATABASE_URL: url }, ({ writer }) =>
      migrate(writer, pathToFileURL(`${folder}/`)),
    )
    await setTimeout(5000)
    await dump.query('commit')
    await dump.end()
    await migrated
    rmSync(folder, { recursive: true })
  },
  { unnoticed: [...EVERYTHING], recoveryMs: 0 },
)

export const MIGRATION_FAULTS = [behindDump]
