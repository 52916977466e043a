import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { type Kysely, sql, type Transaction } from 'kysely'
import { OperatorError } from '#src/errors.ts'
import { codeOf, messageOf } from '#src/lib/caught.ts'
import { insertReference, REFERENCE_FILE, readReference, SQL_FOLDER } from './reference.ts'
import type { Tables } from './tables.ts'

/** Any constant will do, as long as every version of the program uses the same. */
const MIGRATION_LOCK = 7_239_441

/**
 * A version that still serves takes locks in an order of its own. Where the two wait for each other, the
 * server gives one of them up, at random; nothing is left of a migration then.
 */
const ATTEMPTS = 20
const DEADLOCK = '40P01'

export interface Script {
  kind: 'migration' | 'function'
  name: string
  text: string
  checksum: string
}

/**
 * Brings the schema up to date: numbered migrations in order, each once; then the functions, each when
 * its text has changed. A database that is new also gets the countries and crops of the reference file. All
 * in one transaction under an advisory lock, so that of several processes that start together one migrates
 * and the others find it done. It is begun anew where requests of another process are in its way.
 *
 * @param folder has the scripts in `migrations` and `functions`, and the reference file
 * @returns the names of what was applied
 * @throws {OperatorError} when an applied migration has been changed, or is not known to this version
 */
export async function migrate(db: Kysely<Tables>, folder = SQL_FOLDER): Promise<string[]> {
  const scripts = [...(await scriptsOf('migration', folder)), ...(await scriptsOf('function', folder))]
  for (let attempt = 1; ; attempt++) {
    try {
      return await applyAll(db, scripts, folder)
    } catch (error) {
      if (!isDeadlock(error) || attempt === ATTEMPTS) throw error
    }
  }
}

/** The number of the latest migration that this version knows. */
export async function schemaVersion(folder = SQL_FOLDER): Promise<number> {
  const names = await readdir(new URL('migrations/', folder))
  return Math.max(...names.map((name) => Number.parseInt(name, 10) || 0))
}

async function applyAll(db: Kysely<Tables>, scripts: Script[], folder: URL): Promise<string[]> {
  return db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(${sql.lit(MIGRATION_LOCK)})`.execute(trx)
    const applied = await appliedScripts(trx)
    refuseForeignMigrations(scripts, applied)
    const names: string[] = []
    const isNew = applied.size === 0
    for (const script of scripts) {
      const checksum = applied.get(key(script))
      if (checksum === script.checksum) continue
      if (checksum !== undefined && script.kind === 'migration') {
        throw new OperatorError(
          `Migration ${script.name} was changed after it was applied: put it back, and add a new one.`,
        )
      }
      await apply(trx, script)
      names.push(script.name)
    }
    if (isNew) {
      await insertReference(trx, await readReference(folder))
      names.push(REFERENCE_FILE)
    }
    return names
  })
}

function key({ kind, name }: Pick<Script, 'kind' | 'name'>): string {
  return `${kind} ${name}`
}

/** The scripts of a kind, in the order in which they are applied. */
export async function scriptsOf(kind: Script['kind'], sqlFolder: URL): Promise<Script[]> {
  const folder = new URL(`${kind}s/`, sqlFolder)
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(new URL(name, folder), 'utf8')
      return { kind, name, text, checksum: createHash('sha256').update(text).digest('hex') }
    }),
  )
}

async function appliedScripts(trx: Transaction<Tables>): Promise<Map<string, string>> {
  await sql`
    create table if not exists applied_script (
      kind text not null,
      name text not null,
      checksum text not null,
      applied_at timestamptz not null default now(),
      primary key (kind, name)
    )`.execute(trx)
  const { rows } = await sql<Omit<Script, 'text'>>`select kind, name, checksum from applied_script`.execute(
    trx,
  )
  return new Map(rows.map((row) => [key(row), row.checksum]))
}

function refuseForeignMigrations(scripts: Script[], applied: Map<string, string>): void {
  const known = new Set(scripts.map(key))
  const foreign = [...applied.keys()].find((name) => name.startsWith('migration ') && !known.has(name))
  if (foreign) {
    throw new OperatorError(
      `The database was migrated by a newer version of the service (${foreign}): upgrade this one.`,
    )
  }
}

async function apply(trx: Transaction<Tables>, script: Script): Promise<void> {
  try {
    await sql.raw(script.text).execute(trx)
  } catch (error) {
    throw new OperatorError(`${script.name} could not be applied: ${messageOf(error)}.`, { cause: error })
  }
  await sql`
    insert into applied_script (kind, name, checksum)
    values (${script.kind}, ${script.name}, ${script.checksum})
    on conflict (kind, name) do update set checksum = excluded.checksum, applied_at = now()`.execute(trx)
}

function isDeadlock(error: unknown): boolean {
  return error instanceof OperatorError && codeOf(error.cause) === DEADLOCK
}
