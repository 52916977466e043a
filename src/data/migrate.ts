import { setTimeout } from 'node:timers/promises'
import { type RawBuilder, sql } from 'kysely'
import { OperatorError } from '#src/errors.ts'
import { doublingPauses, formatError, pauseAfter } from '#src/lib/promises.ts'
import { isLockNotAvailable, isUndone } from './failures.ts'
import { APPLICATION } from './pool.ts'
import { insertReference, REFERENCE_FILE, readReference } from './reference.ts'
import { explainRights } from './rights.ts'
import {
  breaksOlder,
  joinParts,
  listPendingScripts,
  readApplied,
  readScripts,
  type Script,
} from './schema-state.ts'
import type { Db, Trx } from './tables.ts'

/** Describes other sessions, the oldest transaction first. Address and time need the right to see them. */
async function listSessions(db: Db, isMeant: RawBuilder<boolean>): Promise<string[]> {
  // A transaction would see the sessions of its first look.
  await sql`select pg_stat_clear_snapshot()`.execute(db)
  const { rows } = await sql<{ session: string }>`
    select format('process %s (%s)', pid, concat_ws(
      ', ',
      nullif(application_name, ''),
      'role ' || usename,
      'from ' || host(client_addr),
      'in a transaction since ' || to_char(xact_start at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"')
    )) as session
    from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and ${isMeant}
    order by xact_start, pid
    limit 20`.execute(db)
  return rows.map(({ session }) => session)
}

/** Locks on tables of the schema, such as of a dump. */
const HOLDS_LOCKS = sql<boolean>`pid in (
  select pg_locks.pid from pg_locks
  join pg_class on pg_class.oid = relation
  where relnamespace = current_schema()::regnamespace and granted
)`

/** Processes of this version know the script, and wait for it. */
const IS_OLDER = sql<boolean>`
  application_name like 'agro-advisory%' and application_name not like ${`${APPLICATION}%`}`

/** @throws {OperatorError} where sessions of older versions are open */
async function refuseBesideOlder(trx: Db, { name }: Script): Promise<void> {
  const older = await listSessions(trx, IS_OLDER)
  if (older.length === 0) return
  throw new OperatorError(
    `Older versions of the service run, and ${name} breaks them: ${older.join('; ')}. Nothing was changed: stop them, or say \`agro migrate --force\`.`,
    { code: 'DATABASE_IN_USE' },
  )
}

/** A process of 1.1.0 that answers no requests has sessions once a minute. */
const LOOK_MS = 65_000
const LOOK_EVERY_MS = 250

/** Without accounts and releases no older version answers anything. */
async function isInUse(db: Db): Promise<boolean> {
  const { rows } = await sql<{ used: boolean }>`
    select exists (select from app_user) or exists (select from release) as used`.execute(db)
  return rows[0]?.used ?? false
}

/** The same arbitrary number in all versions. */
const MIGRATION_LOCK = 7_239_441

/** Requests wait behind a migration that waits. Shorter than `deadlock_timeout`: in a deadlock, the migration gives up. */
const LOCK_TIMEOUT_MS = 500

const PAUSES_MS = doublingPauses(250, 10_000)

/** A dump takes some minutes. */
const LOCK_WAIT_MS = 10 * 60_000

interface MigrateOptions {
  progress?: (message: string) => void
  /** Time of all attempts. */
  patienceMs?: number
  /** Goes on where older versions run that a script breaks, as none can on the embedded database: else nothing is applied. */
  force?: boolean
  /** For so long it looks for them before such a script: their sessions come and go. */
  lookMs?: number
}

/**
 * Applies migrations, then functions with a changed text, and in a new database the reference file: in one transaction under
 * an advisory lock, so that one of several starting processes migrates. Waits for locks are short; after a pause it begins
 * anew. A current schema takes no lock, and no right but to read.
 *
 * @param folder has all scripts in `migrations` and `functions`, and the reference file: by default those of the core and the extensions
 * @returns the names of the applied scripts
 */
export async function migrate(
  db: Db,
  folder?: URL,
  { progress = () => {}, patienceMs = LOCK_WAIT_MS, force = false, lookMs = LOOK_MS }: MigrateOptions = {},
): Promise<string[]> {
  const scripts = await readScripts(folder && [{ extension: null, url: folder }])
  const applied = await readApplied(db)
  const pending = listPendingScripts(scripts, applied)
  if (pending.length === 0) return []
  const breaking = findBreaking(pending, applied.size, force)
  if (breaking && (await isInUse(db))) {
    progress(`looking for older versions that run, for ${lookMs / 1000} s: --force goes on without`)
    for (
      const until = performance.now() + lookMs;
      performance.now() < until;
      await setTimeout(LOOK_EVERY_MS)
    ) {
      await refuseBesideOlder(db, breaking)
    }
  }
  const begun = performance.now()
  for (let failures = 1; ; failures++) {
    try {
      return await db.transaction().execute((trx) => applyAll(trx, scripts, folder, force))
    } catch (error) {
      if (!isBlocked(error)) return await explainRights(db, error)
      // Without a name the holder is no less there.
      const [holder = 'another session'] = await listSessions(db, HOLDS_LOCKS).catch(() => [])
      const pause = pauseAfter(PAUSES_MS, failures)
      if (performance.now() - begun + pause > patienceMs) {
        throw new OperatorError(
          `The schema could not be changed for ${patienceMs / 1000} s: ${holder} holds locks on it. Nothing was changed; end that, or try again later.`,
        )
      }
      progress(`the schema is locked by ${holder}: trying again in ${pause / 1000} s`)
      await setTimeout(pause)
    }
  }
}

function isBlocked(error: unknown): boolean {
  const cause = error instanceof OperatorError ? error.cause : error
  return isLockNotAvailable(cause) || isUndone(cause)
}

function findBreaking(pending: Script[], applied: number, force: boolean): Script | undefined {
  return force || applied === 0 ? undefined : pending.find(breaksOlder)
}

async function applyAll(
  trx: Trx,
  scripts: Script[],
  folder: URL | undefined,
  force: boolean,
): Promise<string[]> {
  await sql`select pg_advisory_xact_lock(${sql.lit(MIGRATION_LOCK)})`.execute(trx)
  await sql`set local lock_timeout = ${sql.lit(LOCK_TIMEOUT_MS)}`.execute(trx)
  const applied = await readApplied(trx)
  const pending = listPendingScripts(scripts, applied)
  const breaking = findBreaking(pending, applied.size, force)
  if (breaking) await refuseBesideOlder(trx, breaking)
  if (pending.length > 0) await keepAppliedScripts(trx)
  for (const script of pending) await apply(trx, script)
  if (pending.length > 0) await noteOwners(trx, scripts)
  // One may have come meanwhile.
  if (breaking) await refuseBesideOlder(trx, breaking)
  const names = pending.map(({ name }) => name)
  if (applied.size > 0) return names
  await insertReference(trx, await readReference(folder))
  return [...names, REFERENCE_FILE]
}

async function keepAppliedScripts(trx: Trx): Promise<void> {
  await sql`
    create table if not exists applied_script (
      kind text not null,
      name text not null,
      checksum text not null,
      applied_at timestamptz not null default now(),
      primary key (kind, name)
    )`.execute(trx)
  await sql`
    alter table applied_script
      add column if not exists replaced text[] not null default '{}',
      add column if not exists breaks_older boolean not null default false,
      add column if not exists extension text`.execute(trx)
}

/** Says whose scripts are that versions before extensions have applied, and has these know divided ones by the whole. */
async function noteOwners(trx: Trx, scripts: Script[]): Promise<void> {
  const owned = scripts.filter(({ extension }) => extension !== null)
  await sql`
    update applied_script set extension = owned.extension
    from unnest(
      ${owned.map(({ name }) => name)}::text[], ${owned.map(({ extension }) => extension)}::text[]
    ) as owned (name, extension)
    where applied_script.name = owned.name and applied_script.extension is null`.execute(trx)
  for (const { name, checksum } of joinParts(scripts)) {
    await sql`
      insert into applied_script (kind, name, checksum) values ('migration', ${name}, ${checksum})
      on conflict (kind, name) do nothing`.execute(trx)
  }
}

async function apply(trx: Trx, script: Script): Promise<void> {
  try {
    await sql.raw(script.text).execute(trx)
  } catch (error) {
    throw new OperatorError(`${script.name} could not be applied: ${formatError(error)}.`, { cause: error })
  }
  await sql`
    insert into applied_script (kind, name, checksum, breaks_older, extension)
    values (${script.kind}, ${script.name}, ${script.checksum}, ${breaksOlder(script)}, ${script.extension})
    on conflict (kind, name) do update set
      replaced = applied_script.replaced || applied_script.checksum,
      checksum = excluded.checksum,
      applied_at = now()`.execute(trx)
}
