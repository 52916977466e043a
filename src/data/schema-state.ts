import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { sql } from 'kysely'
import { OperatorError } from '#src/errors.ts'
import { SQL_FOLDER } from './reference.ts'
import { explainRights, refuseRole } from './rights.ts'
import type { Db } from './tables.ts'

export interface Script {
  kind: 'migration' | 'function'
  name: string
  text: string
  checksum: string
  /** Null for the core. */
  extension: string | null
  /** The name of a migration that this one and others stand for, where that was applied. */
  replaces?: string | undefined
}

interface AppliedScript extends Omit<Script, 'text' | 'extension' | 'replaces'> {
  /** An older schema lacks it. */
  extension?: string | null
  /** Checksums of earlier texts of a function. */
  replaced?: string[]
  /** Whether older versions cannot go on after it. An older schema lacks both columns. */
  breaks_older?: boolean
}

/** By kind and name. */
type AppliedScripts = Map<string, AppliedScript>

/** Such a line ends the processes of older versions: see docs/versioning.md. */
const BREAKS_OLDER = /^-- breaks: older versions$/m

export const breaksOlder = ({ text }: Script): boolean => BREAKS_OLDER.test(text)

interface ScriptFolder {
  /** Null for the core. */
  extension: string | null
  /** Has the folders `migrations` and `functions`, or one of them. */
  url: URL
}

/** The list of extensions adds theirs. */
export const FOLDERS: ScriptFolder[] = [{ extension: null, url: SQL_FOLDER }]

/** Migrations by number, then functions. */
export async function readScripts(folders: readonly ScriptFolder[] = FOLDERS): Promise<Script[]> {
  return [...(await scriptsOf('migration', folders)), ...(await scriptsOf('function', folders))]
}

async function scriptsOf(kind: Script['kind'], folders: readonly ScriptFolder[]): Promise<Script[]> {
  const scripts = await Promise.all(folders.map((folder) => scriptsIn(kind, folder)))
  return scripts.flat().sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** The name and the checksum of a migration that was divided; its parts, each below this line, are its text. */
const REPLACES = /^-- replaces: (\S+) (\S+)\n/

const checksumOf = (text: string) => createHash('sha256').update(text).digest('hex')

async function scriptsIn(kind: Script['kind'], { extension, url }: ScriptFolder): Promise<Script[]> {
  const folder = new URL(`${kind}s/`, url)
  const names = existsSync(folder) ? await readdir(folder) : []
  return Promise.all(
    names
      .filter((name) => name.endsWith('.sql'))
      .map(async (name) => {
        const text = await readFile(new URL(name, folder), 'utf8')
        const checksum = checksumOf(text)
        return { kind, name, text, checksum, extension, replaces: REPLACES.exec(text)?.[1] }
      }),
  )
}

/** Those that were divided, where all their parts are here: older versions know the whole. */
export function joinParts(scripts: readonly Script[]): Pick<Script, 'name' | 'checksum'>[] {
  const names = new Set(scripts.flatMap(({ replaces = [] }) => replaces))
  return [...names].flatMap((name) => {
    const parts = scripts.filter(({ replaces }) => replaces === name)
    const checksum = checksumOf(parts.map(({ text }) => text.replace(REPLACES, '')).join('\n'))
    return REPLACES.exec(parts[0]?.text ?? '')?.[2] === checksum ? [{ name, checksum }] : []
  })
}

/** Until then all scripts were in one folder, and a database does not know of which extension they are. */
const LAST_OF_ONE_FOLDER = 55

const numberOf = (name: string) => Number.parseInt(name, 10) || 0

/** The number of the latest migration. */
export async function schemaVersion(): Promise<number> {
  const scripts = await scriptsOf('migration', FOLDERS)
  return Math.max(...scripts.map(({ name }) => numberOf(name)))
}

/** None without a schema. */
export async function readApplied(db: Db): Promise<AppliedScripts> {
  if (!(await isThere(db))) return new Map()
  const { rows } = await sql<{ script: AppliedScript }>`
    select to_jsonb(applied_script) as script from applied_script`
    .execute(db)
    .catch((error) => explainRights(db, error))
  return new Map(rows.map(({ script }) => [keyOf(script), script]))
}

/** Without the right to use the schema, its tables are not found. */
async function isThere(db: Db): Promise<boolean> {
  const { rows } = await sql<{ found: boolean; hidden: boolean }>`
    select
      to_regclass('applied_script') is not null as found,
      exists (
        select from pg_class
        where relname = 'applied_script' and relkind = 'r' and not has_schema_privilege(relnamespace, 'usage')
      ) as hidden`.execute(db)
  const [{ found, hidden } = { found: false, hidden: false }] = rows
  if (hidden && !found) return refuseRole(db, 'it may not use the schema')
  return found
}

interface Comparison {
  pending: Script[]
  /** Applied migrations that versions without them cannot go on after. */
  noWayBack: string[]
  /** Migrations of a newer version, and those among them that this version cannot go on after. */
  newer: string[]
  breaking: string[]
  /** Migrations with another text than the applied one. */
  changed: string[]
}

/**
 * After a newer version its functions stay, which are right for both. A migration that is unknown here, and has a number
 * among ours, is of an extension that this version lacks; later versions say whose theirs are.
 */
function compareScripts(scripts: Script[], applied: AppliedScripts): Comparison {
  const names = new Set(scripts.flatMap(({ name, replaces = name }) => [name, replaces]))
  const latest = Math.max(
    LAST_OF_ONE_FOLDER,
    ...scripts.filter(({ kind }) => kind === 'migration').map((one) => numberOf(one.name)),
  )
  const owners = new Set(scripts.map((script) => script.extension))
  const newer = migrationsIn(
    applied,
    ({ name, extension = null }) => !names.has(name) && owners.has(extension) && numberOf(name) > latest,
  )
  const isPending = (script: Script) => {
    const found = applied.get(keyOf(script))
    const { kind, replaces } = script
    if (kind === 'migration') return !found && !(replaces && applied.has(keyOf({ kind, name: replaces })))
    return newer.length === 0 && ![found?.checksum, ...(found?.replaced ?? [])].includes(script.checksum)
  }
  const isChanged = (script: Script) => {
    const { checksum } = applied.get(keyOf(script)) ?? script
    return script.kind === 'migration' && checksum !== script.checksum
  }
  const noWayBack = migrationsIn(applied, ({ breaks_older }) => breaks_older === true)
  return {
    pending: scripts.filter(isPending),
    noWayBack,
    newer,
    breaking: newer.filter((name) => noWayBack.includes(name)),
    changed: scripts.filter(isChanged).map(({ name }) => name),
  }
}

function migrationsIn(applied: AppliedScripts, isMeant = (_: AppliedScript) => true): string[] {
  const migrations = [...applied.values()].filter((one) => one.kind === 'migration' && isMeant(one))
  return migrations.map(({ name }) => name).sort()
}

/** @throws {OperatorError} when an applied migration has been changed, or one breaks this version */
export function listPendingScripts(scripts: Script[], applied: AppliedScripts): Script[] {
  const { pending, breaking, changed } = compareScripts(scripts, applied)
  if (breaking[0]) {
    throw new OperatorError(
      `The database was migrated by a newer version of the service (migration ${breaking[0]}), and this one cannot go on with it: upgrade this one.`,
      { code: 'SCHEMA' },
    )
  }
  if (changed[0]) {
    throw new OperatorError(
      `Migration ${changed[0]} was changed after it was applied: put it back, and add a new one.`,
      { code: 'SCHEMA' },
    )
  }
  return pending
}

/** @throws {OperatorError} when the schema is older than this version, or breaks it */
export async function refuseOlderSchema(db: Db): Promise<void> {
  const applied = await readApplied(db)
  const [first, ...others] = listPendingScripts(await readScripts(), applied)
  if (!first) return
  if (applied.size === 0) {
    throw new OperatorError('The database has no schema yet: `agro migrate` makes it.', { code: 'SCHEMA' })
  }
  const missing = others.length > 0 ? `${first.name} and ${others.length} more` : first.name
  throw new OperatorError(
    `The schema of the database is older than this version, which needs ${missing}: \`agro migrate\` brings it up to date.`,
    { code: 'SCHEMA' },
  )
}

function keyOf({ kind, name }: Pick<Script, 'kind' | 'name'>): string {
  return `${kind} ${name}`
}

interface SchemaState extends Comparison {
  applied: string[]
}

export async function schemaState(db: Db): Promise<SchemaState> {
  const applied = await readApplied(db)
  return { applied: migrationsIn(applied), ...compareScripts(await readScripts(), applied) }
}

/** Finds missing tables and functions, and disabled indexes, triggers and constraints, each with its mistake. */
export async function schemaDefects(db: Db) {
  const applied = await readApplied(db)
  const scripts = (await readScripts()).filter((script) => applied.has(keyOf(script)))
  const dropped = namesIn(scripts, /^drop table (\w+)/gm)
  const tables = namesIn(scripts, /^create table (\w+)/gm).filter((table) => !dropped.includes(table))
  const functions = namesIn(scripts, /^create or replace function (\w+)/gm)
  const { rows: missing } = await sql<{ name: string }>`
    select name from unnest(${tables}::text[]) as name where to_regclass(name) is null
    union all
    select name || '()' from unnest(${functions}::text[]) as name
    where not exists (select from pg_proc where proname = name and pg_function_is_visible(oid))`.execute(db)
  const { rows: disabled } = await sql<{ name: string }>`
    select 'index ' || indexrelid::regclass || ' is not valid' as name
    from pg_index where not indisvalid and indrelid = any (${OURS})
    union all
    select 'trigger ' || tgname || ' of ' || tgrelid::regclass || ' is disabled'
    from pg_trigger where tgenabled = 'D' and tgrelid = any (${OURS})
    union all
    select 'constraint ' || conname || ' of ' || conrelid::regclass || ' is not validated'
    from pg_constraint where not convalidated and conrelid = any (${OURS})
    order by name`.execute(db)
  return { missing: missing.map(({ name }) => name), disabled: disabled.map(({ name }) => name) }
}

/** The tables of the schema. */
const OURS = sql`array(select oid from pg_class where relnamespace = current_schema()::regnamespace)`

function namesIn(scripts: Script[], pattern: RegExp): string[] {
  return scripts.flatMap(({ text }) => [...text.matchAll(pattern)].map(([, name]) => name as string))
}

interface RoleRights {
  role: string
  superuser: boolean
  /** Whether it owns all tables. */
  owner: boolean
  unreadable: string[]
  unwritable: string[]
}

export async function roleRights(db: Db): Promise<RoleRights> {
  const { rows } = await sql<RoleRights>`
    select
      current_user as role,
      (select rolsuper from pg_roles where rolname = current_user) as superuser,
      coalesce(bool_and(pg_has_role(relowner, 'usage')), true) as owner,
      coalesce(array_agg(relname::text) filter (where not has_table_privilege(oid, 'select')), '{}')
        as unreadable,
      coalesce(array_agg(relname::text) filter (where not has_table_privilege(oid, 'insert')), '{}')
        as unwritable
    from pg_class
    where relnamespace = current_schema()::regnamespace
      and relkind in ('r', 'p', 'v')
      and relname = any (${namesIn(await scriptsOf('migration', FOLDERS), /^create table (\w+)/gm)}::text[])
  `.execute(db)
  return rows[0] as RoleRights
}
