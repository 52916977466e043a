import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type OpenTestDatabase, openTestDatabase } from '#test/setup/database.ts'
import { declaredSchema, differences, type Schema, schemaOf } from './table-types.ts'

let opened: OpenTestDatabase
let schema: Schema
beforeAll(async () => {
  opened = await openTestDatabase('empty')
  schema = await schemaOf(opened.database.writer)
})
afterAll(() => opened.close())

test('the types of the tables are what the database has and the driver reads', () => {
  expect(differences(schema, declaredSchema())).toEqual([])
})

describe('a difference is found', () => {
  const declared = `
export interface Tables {
  crop: { code: string; name: string }
  release: ReleaseTable
}

interface ReleaseTable {
  id: Generated<number>
  /** Of one
   * of two: kinds. */
  product: Role | 'all'
  crop: string | null
}
`
  const database = declaredSchema(declared)

  test.each([
    [
      'of a table that is not declared',
      '  crop: { code: string; name: string }\n',
      '',
      ['The table crop is not in tables.ts.'],
    ],
    [
      'of a table that is not there',
      '  crop: {',
      '  crops: { code: string }\n  crop: {',
      ['The table crops of tables.ts is not in the database.'],
    ],
    ['of a column that is not declared', '; name: string', '', ['The column crop.name is not in tables.ts.']],
    [
      'of a column that is not there',
      '  id:',
      '  code: string\n  id:',
      ['The column release.code of tables.ts is not in the database.'],
    ],
    [
      'in the type',
      'Generated<number>',
      'Generated<string>',
      ['release.id is read as number: tables.ts says string.'],
    ],
    [
      'in one of several types',
      "| 'all'",
      '| Date',
      ['release.product is read as string: tables.ts says string | Date.'],
    ],
    [
      'where null is not declared',
      'crop: string | null',
      'crop: string',
      ['release.crop can be null: tables.ts does not say so.'],
    ],
    [
      'where null does not occur',
      "'all'",
      "'all' | null",
      ['release.product cannot be null: tables.ts says that it can.'],
    ],
    [
      'where a default is not declared',
      'Generated<number>',
      'number',
      ['release.id has a default: in tables.ts it is not Generated.'],
    ],
    [
      'where there is no default',
      'crop: string | null',
      'crop: Generated<string | null>',
      ['release.crop has no default: in tables.ts it is Generated.'],
    ],
  ])('%s', (_, from, to, sentences) => {
    expect(declared).toContain(from)
    expect(differences(database, declaredSchema(declared.replace(from, to)))).toEqual(sentences)
  })

  test('and what cannot be read is said', () => {
    expect(() => declaredSchema(declared.replace('crop: string |', 'crop?: string |'))).toThrow(
      'A line of an interface cannot be read: crop?: string | null',
    )
    expect(() => declaredSchema(declared.replace('release: Rel', 'release: Real'))).toThrow(
      'There is no interface RealeaseTable, the type of the table release.',
    )
  })
})
