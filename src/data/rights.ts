import { type RawBuilder, sql } from 'kysely'
import { OperatorError } from '#src/errors.ts'
import { formatError, readErrorCode } from '#src/lib/promises.ts'
import { inTransaction } from './sql.ts'
import type { Db, Tables, Trx } from './tables.ts'

/** SQLSTATE of what a role may not do. */
const INSUFFICIENT_PRIVILEGE = '42501'

type Right = 'select' | 'insert' | 'update' | 'delete'

const ALL: Right[] = ['select', 'insert', 'update', 'delete']

/** Tables with fewer rights; others need all. */
const RIGHTS: Partial<Record<keyof Tables, Right[]>> = {
  applied_script: ['select'],
  // A function with its owner's rights deletes old records.
  audit_record: ['select', 'insert'],
  // A function with its owner's rights writes it.
  change_entry: ['select'],
}

/** Functions with the rights of the owner of the tables. */
const OWNERS_FUNCTIONS = [
  'create_history_months(timestamptz)',
  'detach_history_month(timestamptz)',
  'drop_history_month()',
]

function rightsOn(table: string): Right[] {
  return RIGHTS[table as keyof Tables] ?? ALL
}

/** Tables and views, without those of extensions. */
async function listTables(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name
    from pg_class
    where relkind in ('r', 'p', 'v') and ${isWhole}
      and relnamespace = current_schema()::regnamespace and ${isOurs('pg_class')}
    order by relname`.execute(db)
  return rows.map(({ name }) => name)
}

async function listFunctions(db: Db): Promise<string[]> {
  const { rows } = await sql<{ signature: string }>`
    select pg_proc.oid::regprocedure::text as signature
    from pg_proc
    where pronamespace = current_schema()::regnamespace and ${isOurs('pg_proc')}`.execute(db)
  return rows.map(({ signature }) => signature)
}

/** Objects of a catalog that no extension has made. */
export function isOurs(catalog: 'pg_class' | 'pg_proc'): RawBuilder<boolean> {
  return sql`not exists (
    select from pg_depend
    where classid = ${sql.lit(catalog)}::regclass and objid = ${sql.ref(`${catalog}.oid`)} and deptype = 'e'
  )`
}

/** No partition: those are read through their table. */
export const isWhole = sql<boolean>`not exists (select from pg_inherits where inhrelid = pg_class.oid)`

/** Grants a role the rights of the service, which reads and writes rows and changes no table; also in later migrations. */
export async function grantService(db: Db, role: string): Promise<void> {
  await inTransaction(db, (trx) => grantAll(trx, role)).catch((error) => explainRights(db, error))
}

async function grantAll(trx: Trx, role: string): Promise<void> {
  const { rows } = await sql<{ owner: boolean; schema: string }>`
    select pg_has_role(${role}, current_user, 'member') as owner, current_schema() as schema
    from pg_roles where rolname = ${role}`.execute(trx)
  const [found] = rows
  if (!found) {
    throw new OperatorError(
      `There is no role ${role}: \`create role\` makes it, docker/database.sh shows how.`,
      { code: 'NOT_FOUND' },
    )
  }
  if (found.owner) {
    throw new OperatorError(`${role} owns the schema, and may do all: grant to a role of the service's own.`)
  }
  const [to, schema] = [sql.id(role), sql.id(found.schema)]
  await sql`grant usage on schema ${schema} to ${to}`.execute(trx)
  for (const table of await listTables(trx)) {
    await sql`revoke all on ${sql.table(table)} from ${to}`.execute(trx)
    await sql`grant ${sql.raw(rightsOn(table).join())} on ${sql.table(table)} to ${to}`.execute(trx)
  }
  for (const signature of await listFunctions(trx)) {
    await sql`grant execute on function ${sql.raw(signature)} to ${to}`.execute(trx)
  }
  // `agro export` reads where they stand.
  await sql`grant usage, select on all sequences in schema ${schema} to ${to}`.execute(trx)
  const later = sql`alter default privileges in schema ${schema} grant`
  await sql`${later} select, insert, update, delete on tables to ${to}`.execute(trx)
  await sql`${later} usage, select on sequences to ${to}`.execute(trx)
  await sql`${later} execute on functions to ${to}`.execute(trx)
}

/** @throws {OperatorError} names the first missing right of the role */
export async function refuseMissingRights(db: Db): Promise<void> {
  const needed = (await listTables(db)).flatMap((table) => rightsOn(table).map((right) => ({ table, right })))
  const { rows } = await sql<{ table: string; right: string }>`
    select "table", "right"
    from unnest(
      ${needed.map(({ table }) => table)}::text[],
      ${needed.map(({ right }) => right)}::text[]
    ) as needed ("table", "right")
    where not has_table_privilege("table", "right")`.execute(db)
  const [first] = rows
  if (first) await refuseRole(db, `it may not ${first.right} rows of ${first.table}`)
  const { rows: functions } = await sql<{ name: string }>`
    select split_part(signature, '(', 1) as name from unnest(${OWNERS_FUNCTIONS}::text[]) as needed (signature)
    where not has_function_privilege(signature, 'execute')`.execute(db)
  if (functions[0]) await refuseRole(db, `it may not execute ${functions[0].name}`)
}

/** Throws an error again, or instead a sentence on a missing right. */
export async function explainRights(db: Db, error: unknown): Promise<never> {
  const code = readErrorCode(error) ?? (error instanceof Error ? readErrorCode(error.cause) : undefined)
  if (code !== INSUFFICIENT_PRIVILEGE) throw error
  return refuseRole(db, formatError(error).replace(/\.$/, ''))
}

export async function refuseRole(db: Db, reason: string): Promise<never> {
  const { rows } = await sql<{ role: string }>`select current_user as role`.execute(db)
  const role = rows[0]?.role
  throw new OperatorError(
    `The role ${role} has not the rights for it: ${reason}. The owner of the schema changes it by \`agro migrate\`, and gives a service its rights by \`agro grants ${role}\`.`,
  )
}
