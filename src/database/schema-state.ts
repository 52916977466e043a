import { type Kysely, sql } from 'kysely'
import { SQL_FOLDER } from './reference.ts'
import {
  type Comparison,
  compareScripts,
  keyOf,
  migrationsIn,
  readApplied,
  readScripts,
  type Script,
  scriptsOf,
} from './scripts.ts'
import type { Tables } from './tables.ts'

/** How a schema stands to what this version of the program expects. */
export interface SchemaState extends Comparison {
  /** The migrations that were applied. */
  applied: string[]
}

/** Compares what was applied to a database with the scripts; changes nothing. */
export async function schemaState(db: Kysely<Tables>): Promise<SchemaState> {
  const applied = await readApplied(db)
  return { applied: migrationsIn(applied), ...compareScripts(await readScripts(SQL_FOLDER), applied) }
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
  const applied = await readApplied(db)
  const scripts = (await readScripts(SQL_FOLDER)).filter((script) => applied.has(keyOf(script)))
  const tables = namesIn(scripts, /^create table (\w+)/gm)
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
      and relkind in ('r', 'p', 'v')
      and relname = any (${namesIn(await scriptsOf('migration', SQL_FOLDER), /^create table (\w+)/gm)}::text[])
  `.execute(db)
  return rows[0] as RoleRights
}
