import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OpenTestDatabase, openTestDatabase } from '#test/setup/database.ts'
import { declaredSchema, type Schema, schemaOf } from './table-types.ts'

let opened: OpenTestDatabase
let schema: Schema
beforeAll(async () => {
  opened = await openTestDatabase('empty')
  schema = await schemaOf(opened.database.writer)
})
afterAll(() => opened.close())

test('the types of the tables are what the database has and the driver reads', () => {
  expect(declaredSchema()).toEqual(schema)
})
