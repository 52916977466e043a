import type pg from 'pg'
import type { Template } from './templates.ts'

/** Runs a statement; resolves to its rows. */
export type Query = (statement: string) => Promise<Record<string, unknown>[]>

export function queryOf(pool: pg.Pool): Query {
  return async (statement) => (await pool.query(statement)).rows
}

/**
 * Keeps a copy of all tables in a schema beside them, so that they can be put back to it.
 *
 * PGlite has one database, so a template database cannot be copied in it, and to start it anew for each
 * test file is most of what such a file would cost.
 */
export async function keepPristine(query: Query, template: Template): Promise<void> {
  await query(`create schema pristine_${template}`)
  for (const table of await namesOf(query, 'r')) {
    await query(`create table pristine_${template}.${table} as table public.${table}`)
  }
  await query(`create table pristine_${template}.sequence_state (name text, value bigint, is_called boolean)`)
  for (const sequence of await namesOf(query, 'S')) {
    await query(`
      insert into pristine_${template}.sequence_state
      select '${sequence}', last_value, is_called from public.${sequence}`)
  }
}

/** Makes all tables and sequences what they were when they were kept. */
export async function putBack(query: Query, template: Template): Promise<void> {
  const tables = await namesOf(query, 'r')
  // No triggers and no checks of foreign keys: what is put back was checked when it came in.
  await query('set session_replication_role = replica')
  await query('begin')
  await query(`truncate ${tables.map((table) => `public.${table}`).join(', ')}`)
  for (const table of tables) {
    const columns = await columnsOf(query, table)
    await query(`
      insert into public.${table} (${columns}) overriding system value
      select ${columns} from pristine_${template}.${table}`)
  }
  await query(`
    select setval(format('public.%s', name)::regclass, value, is_called)
    from pristine_${template}.sequence_state`)
  await query('commit')
}

/** Tells whether tables, functions or rules were changed: a digest of all there are. */
export async function schemaOf(query: Query): Promise<string> {
  const [row] = await query(`
    select md5(string_agg(line, ';' order by line)) as digest
    from (
      select concat_ws(' ', nspname, relkind, relname, relnatts) from pg_class
      join pg_namespace on pg_namespace.oid = relnamespace
      where nspname not like 'pg_%'
      union all
      select concat_ws(' ', attrelid::regclass, attname, atttypid::regtype, attnotnull, attisdropped)
      from pg_attribute
      join pg_class on pg_class.oid = attrelid
      where relnamespace = 'public'::regnamespace
      union all
      select concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid)) from pg_constraint
      where connamespace = 'public'::regnamespace
      union all
      select concat_ws(' ', tgrelid::regclass, tgname, tgenabled) from pg_trigger
      where not tgisinternal
      union all
      select concat_ws(' ', oid::regprocedure, md5(prosrc)) from pg_proc
      where pronamespace = 'public'::regnamespace
      union all
      select concat_ws(' ', setrole, setdatabase, setconfig) from pg_db_role_setting
    ) as things (line)`)
  return row?.digest as string
}

/** The tables (r) or sequences (S) of the service; those of extensions are not touched by anybody. */
async function namesOf(query: Query, kind: 'r' | 'S'): Promise<string[]> {
  const rows = await query(`
    select format('%I', relname) as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind = '${kind}'
      and not exists (select from pg_depend where objid = pg_class.oid and deptype = 'e')
    order by 1`)
  return rows.map(({ name }) => name as string)
}

/** The columns that can be written, as a list. */
async function columnsOf(query: Query, table: string): Promise<string> {
  const [row] = await query(`
    select string_agg(format('%I', attname), ', ' order by attnum) as columns from pg_attribute
    where attrelid = 'public.${table}'::regclass and attnum > 0 and not attisdropped and attgenerated = ''`)
  return row?.columns as string
}
