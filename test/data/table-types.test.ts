import { expect, test } from 'vitest'
import { openDatabase } from '#test/setup/open-service.ts'
import { declaredSchema, named, SAMPLES, type Schema, typeOf } from './declared-schema.ts'

const opened = openDatabase('empty')

void (named satisfies string[])

test('the types of the tables are what the database has and the driver reads', async () => {
  const [declared, found] = [declaredSchema(), await readSchema()]
  const inText = Object.keys(declared).filter((table) => Object.keys(declared[table] ?? {}).length === 0)
  expect(inText.length).toBeLessThan(10)
  for (const table of inText) found[table] &&= {}
  expect(declared).toEqual(found)
})

/** The tables of the service, without those of extensions. Of a view the database does not know what can be null. */
async function readSchema(): Promise<Schema> {
  const { pool } = opened.database
  const { rows } = await pool.query(`
    select relname as "table", attname as name, format_type(atttypid, null) as type,
      not attnotnull and (relkind <> 'v' or attname = 'crop_code') as nullable,
      atthasdef or attidentity <> '' as generated
    from pg_class
    join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped
    where relnamespace = 'public'::regnamespace
      and relkind in ('r', 'p', 'v') and not relispartition
      and not exists (
        select from pg_depend
        where classid = 'pg_class'::regclass and objid = pg_class.oid and deptype = 'e'
      )`)
  const schema: Schema = {}
  for (const { table, name, type, nullable, generated } of rows) {
    const sample = SAMPLES[type.replace('[]', '')]
    if (sample === undefined) throw new Error(`SAMPLES has no value of the type ${type}: add one.`)
    const value = type.endsWith('[]') ? `array[${sample}]` : sample
    const { rows: read } = await pool.query(`select (${value})::${type} as value`)
    const typed = typeOf(read[0].value) + (nullable ? ' | null' : '')
    schema[table] = { ...schema[table], [name]: generated ? `Generated<${typed}>` : typed }
  }
  return schema
}
