import { type Kysely, sql } from 'kysely'
import { SQL_FOLDER } from './reference.ts'
import { type Script, scriptsOf } from './scripts.ts'
import type { Tables } from './tables.ts'

/** How a schema stands to what this version of the program expects. */
export interface SchemaState {
  /** Migrations that were applied, and the last of them. */
  applied: number
  last: string | undefined
  /** Scripts of this version that are not applied, or functions that have another text. */
  pending: string[]
  /** Migrations that this version does not know: a newer one has applied them. */
  newer: string[]
  /** Migrations whose text has changed since they were applied. */
  changed: string[]
}

/** Compares what was applied to a database with the scripts; changes nothing. */
export async function schemaState(db: Kysely<Tables>): Promise<SchemaState> {
  const migrations = await scriptsOf('migration', SQL_FOLDER)
  const functions = await scriptsOf('function', SQL_FOLDER)
  const checksums = await appliedChecksums(db)
  const of = (script: Pick<Script, 'kind' | 'name'>) => checksums.get(`${script.kind} ${script.name}`)
  const appliedMigrations = [...checksums.keys()].flatMap((key) =>
    key.startsWith('migration ') ? [key.slice('migration '.length)] : [],
  )
  const pending = [
    ...migrations.filter((script) => of(script) === undefined),
    ...functions.filter((script) => of(script) !== script.checksum),
  ]
  return {
    applied: appliedMigrations.length,
    last: appliedMigrations.at(-1),
    pending: pending.map(({ name }) => name),
    newer: appliedMigrations.filter((name) => !migrations.some((script) => script.name === name)),
    changed: migrations
      .filter((script) => of(script) !== undefined && of(script) !== script.checksum)
      .map(({ name }) => name),
  }
}

async function appliedChecksums(db: Kysely<Tables>): Promise<Map<string, string>> {
  const { rows: found } = await sql`select where to_regclass('applied_script') is not null`.execute(db)
  if (found.length === 0) return new Map()
  const { rows } = await sql<{ key: string; checksum: string }>`
    select kind || ' ' || name as key, checksum from applied_script order by kind, name`.execute(db)
  return new Map(rows.map(({ key, checksum }) => [key, checksum]))
}

/** What the applied scripts have made and is there no more, or cannot be relied on. */
export interface SchemaDefects {
  /** Tables and functions. */
  missing: string[]
  /** Indexes, triggers and constraints, each with what is wrong with it. */
  disabled: string[]
}

/** Looks for what somebody has dropped or turned off by hand; changes nothing. */
export async function schemaDefects(db: Kysely<Tables>): Promise<SchemaDefects> {
  const tables = namesIn(await scriptsOf('migration', SQL_FOLDER), /^create table (\w+)/gm)
  const functions = namesIn(await scriptsOf('function', SQL_FOLDER), /^create or replace function (\w+)/gm)
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
    from pg_constraint where not convalidated and conrelid = any (${OURS})`.execute(db)
  return { missing: missing.map(({ name }) => name), disabled: disabled.map(({ name }) => name) }
}

/** The tables of the schema in which the scripts are applied. */
const OURS = sql`array(select oid from pg_class where relnamespace = current_schema()::regnamespace)`

function namesIn(scripts: Script[], pattern: RegExp): string[] {
  return scripts.flatMap(({ text }) => [...text.matchAll(pattern)].map(([, name]) => name as string))
}

/** What the role of a connection may do. */
export interface RoleRights {
  role: string
  superuser: boolean
  /** Whether it owns all tables, as migrations need it. */
  owner: boolean
  /** Tables that it may not read, and those that it may not write to. */
  unreadable: string[]
  unwritable: string[]
}

export async function roleRights(db: Kysely<Tables>): Promise<RoleRights> {
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
      and relkind = 'r'
      and relname = any (${namesIn(await scriptsOf('migration', SQL_FOLDER), /^create table (\w+)/gm)}::text[])
  `.execute(db)
  return rows[0] as RoleRights
}
