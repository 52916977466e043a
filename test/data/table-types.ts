import { readFileSync } from 'node:fs'
import { type Kysely, sql } from 'kysely'
import type { ChangeKind } from '#schemas/feed.ts'
import type { Scope } from '#schemas/keys.ts'
import type { DisabledReason, ThresholdKind } from '#schemas/subscriptions.ts'
import type { Role } from '#schemas/user.ts'
import type { AuditKind } from '#src/data/audit-kinds.ts'
import type { Tables } from '#src/data/tables.ts'

/** A column, as the database has it or as `tables.ts` says. */
export interface Column {
  /** The type that its values are read as, without null: `number`, `string[]`. */
  type: string
  nullable: boolean
  /** Whether the database gives it a value where an insert has none. */
  generated: boolean
}

/** Of a view the database does not know what can be null. */
const NULLABLE_IN_VIEWS = ['crop_code']

/** Columns by their names, by the names of tables. */
export type Schema = Map<string, Map<string, Column>>

/** The named types in `tables.ts` that are strings: the compiler refuses another one here. */
interface NamedStrings extends Record<string, string> {
  Role: Role
  Scope: Scope
  AuditKind: AuditKind
  ChangeKind: ChangeKind
  DisabledReason: DisabledReason
  ThresholdKind: ThresholdKind
}

const NAMED_STRINGS: NamedStrings = {
  Role: 'user',
  Scope: 'advisory',
  AuditKind: 'login',
  ChangeKind: 'published',
  DisabledReason: 'gone',
  ThresholdKind: 'absolute',
}

/** Types of the database, and a value of each: what the driver makes of it is the type in TypeScript. */
const SAMPLES: Record<string, string> = {
  bigint: '7',
  boolean: 'true',
  bytea: "'a'",
  date: "'2026-07-01'",
  'double precision': '0.5',
  geometry: "'POINT(1 2)'",
  integer: '7',
  json: "'{}'",
  jsonb: "'{}'",
  smallint: '7',
  raster: 'st_makeemptyraster(1, 1, 0, 0, 1)',
  text: "'a'",
  'timestamp with time zone': "'2026-07-01'",
  uuid: 'gen_random_uuid()',
}

/**
 * The tables of the service's schema, without those of extensions.
 *
 * @throws where a column has a type that SAMPLES has not
 */
export async function schemaOf(db: Kysely<Tables>): Promise<Schema> {
  const { rows } = await sql<{
    tableName: string
    name: string
    type: string
    nullable: boolean
    generated: boolean
  }>`
    select
      relname as "tableName",
      attname as name,
      format_type(atttypid, null) as type,
      not attnotnull and (relkind <> 'v' or attname = any(${NULLABLE_IN_VIEWS})) as nullable,
      atthasdef or attidentity <> '' as generated
    from pg_class
    join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped
    where relnamespace = 'public'::regnamespace
      and relkind in ('r', 'p', 'v') and not relispartition
      and not exists (
        select from pg_depend
        where classid = 'pg_class'::regclass and objid = pg_class.oid and deptype = 'e'
      )
    order by relname, attnum`.execute(db)
  const readAs = new Map<string, string>()
  for (const { type } of rows) {
    if (!readAs.has(type)) readAs.set(type, await typeReadFrom(db, type))
  }
  const schema: Schema = new Map()
  for (const { tableName, name, type, nullable, generated } of rows) {
    const columns = schema.get(tableName) ?? new Map<string, Column>()
    schema.set(tableName, columns.set(name, { type: readAs.get(type) ?? '', nullable, generated }))
  }
  return schema
}

async function typeReadFrom(db: Kysely<Tables>, type: string): Promise<string> {
  const sample = SAMPLES[type.replace('[]', '')]
  if (sample === undefined) throw new Error(`SAMPLES has no value of the type ${type}: add one.`)
  const value = type.endsWith('[]') ? `array[${sample}]` : sample
  const { rows } = await sql<{
    value: unknown
  }>`select (${sql.raw(value)})::${sql.raw(type)} as value`.execute(db)
  return typeOf(rows[0]?.value)
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return `${typeOf(value[0])}[]`
  if (Buffer.isBuffer(value)) return 'Buffer'
  return value instanceof Date ? 'Date' : typeof value
}

const TABLES_FILE = new URL('../../src/data/tables.ts', import.meta.url)

/**
 * What `tables.ts` says: one interface with the tables, each an interface with a column a line.
 *
 * @param text of the file
 * @throws where it cannot be read
 */
export function declaredSchema(text = readFileSync(TABLES_FILE, 'utf8')): Schema {
  const interfaces = new Map<string, Map<string, string>>()
  for (const [, name, body] of text.matchAll(/^(?:export )?interface (\w+) \{\n(.*?)^\}/gms)) {
    interfaces.set(name ?? '', membersOf(body ?? '', '\n'))
  }
  const tables = interfaces.get('Tables')
  if (!tables) throw new Error('There is no interface Tables.')
  return new Map(
    [...tables].map(([table, type]) => {
      const members = type.startsWith('{') ? membersOf(type.slice(1, -1), ';') : interfaces.get(type)
      if (!members) throw new Error(`There is no interface ${type}, the type of the table ${table}.`)
      return [table, new Map([...members].map(([name, declared]) => [name, columnOf(declared)]))]
    }),
  )
}

function membersOf(body: string, separator: string): Map<string, string> {
  const lines = body.replaceAll(/\/\*\*.*?\*\//gs, '').split(separator)
  return new Map(
    lines
      .filter((line) => line.trim() !== '')
      .map((line) => {
        const [, name, type] = /^\s*(\w+): (.+?)\s*$/.exec(line) ?? []
        if (!name || !type) throw new Error(`A line of an interface cannot be read: ${line.trim()}`)
        return [name, type]
      }),
  )
}

function columnOf(declared: string): Column {
  const inner = /^Generated<(.*)>$/.exec(declared)?.[1]
  const parts = (inner ?? declared).split(' | ')
  const types = new Set(parts.filter((part) => part !== 'null').map((part) => baseOf(part)))
  return { type: [...types].join(' | '), nullable: parts.includes('null'), generated: inner !== undefined }
}

function baseOf(type: string): string {
  if (type.endsWith('[]')) return `${baseOf(type.slice(0, -2))}[]`
  return /^'.*'$/.test(type) || type in NAMED_STRINGS ? 'string' : type
}
