import { readFileSync } from 'node:fs'
import type { CompanionRole } from '#schemas/certainty.ts'
import type { Scope } from '#schemas/keys.ts'
import type { Role } from '#schemas/user.ts'
import type { AuditKind } from '#src/data/audit-kinds.ts'
import type { TileStoreName } from '#src/data/release-tables.ts'
import type { ChangeKind } from '#src/data/tables.ts'
import { EXTENSIONS } from '#src/extensions/index.ts'

/** Types of the database, and a value of each: what the driver makes of it is the type in TypeScript. */
export const SAMPLES: Record<string, string> = {
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

/** The named types of columns that are strings: the compiler refuses another one here. */
const NAMED =
  /\b(?:Role|CompanionRole|TileStoreName|Scope|AuditKind|ChangeKind|DisabledReason)\b|Threshold\['kind'\]/
export const named: (Role | CompanionRole | TileStoreName | Scope | AuditKind | ChangeKind)[] = []

/** The types of columns in TypeScript, by their names, by the names of tables. */
export type Schema = Record<string, Record<string, string>>

export function typeOf(value: unknown): string {
  if (Array.isArray(value)) return `${typeOf(value[0])}[]`
  if (Buffer.isBuffer(value)) return 'Buffer'
  return value instanceof Date ? 'Date' : typeof value
}

/** What the files say: one interface with the tables, each an interface with a column a line, or in braces. */
export function declaredSchema(): Schema {
  const files = [
    ...['release-tables', 'tables'].map((name) => `src/data/${name}.ts`),
    ...EXTENSIONS.map(({ name }) => `src/extensions/${name}/index.ts`),
  ]
  const text = files
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n')
    .replaceAll(/\/\*\*.*?\*\//gs, '')
    // An object of JSON.
    .replaceAll('Conditions', 'object')
  const interfaces: Schema = {}
  for (const [, name = '', base = '', body = ''] of text.matchAll(
    /^(?:export )?interface (\w+)(?: extends (\w+))? \{\n(.*?)^\}/gms,
  )) {
    interfaces[name] = { ...interfaces[base], ...membersOf(body.split('\n')) }
  }
  const ofExtensions = [...text.matchAll(/^ {2}interface Tables \{\n(.*?)^ {2}\}/gms)].map(([, body = '']) =>
    membersOf(body.split('\n')),
  )
  return Object.fromEntries(
    Object.entries(Object.assign({}, interfaces.Tables, ...ofExtensions) as Record<string, string>).map(
      ([table, type]) => [
        table,
        type.startsWith('{') ? membersOf(type.slice(1, -1).split(';')) : (interfaces[type] ?? {}),
      ],
    ),
  )
}

/** Texts of some values, and named ones, are strings here. */
function membersOf(lines: string[]): Record<string, string> {
  const members = lines.filter((line) => line.trim() !== '')
  return Object.fromEntries(
    members.map((line) => {
      const [, name = line, type = ''] = /^\s*(\w+): (.+?)\s*$/.exec(line) ?? []
      const texts = new RegExp(`'[^']*'|${NAMED.source}`, 'g')
      const typed = type.startsWith('{') ? type : type.replaceAll(texts, 'string')
      return [name, typed.replaceAll(/string( \| string)+/g, 'string')]
    }),
  )
}
