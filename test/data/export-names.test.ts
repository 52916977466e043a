import { afterAll, beforeAll, expect, test } from 'vitest'
import { listExportsOnce } from '#src/data/embedded/postgis.ts'

const { keys } = Object

beforeAll(listExportsOnce)
afterAll(() => {
  Object.keys = keys
})

test('the names that a module of PostgreSQL exports are listed once', () => {
  const module = { Pg_magic_func: () => 0, ST_Value: () => 1 }
  const names = Object.keys(module)
  expect(names).toEqual(['Pg_magic_func', 'ST_Value'])
  expect(Object.keys(module)).toBe(names)
  expect(Object.keys({ ...module, other: 1 })).toEqual(['Pg_magic_func', 'ST_Value', 'other'])
})

test('those of anything else are listed whenever they are asked for', () => {
  const folder: Record<string, number> = { one: 1 }
  expect(Object.keys(folder)).toEqual(['one'])
  folder.two = 2
  expect(Object.keys(folder)).toEqual(['one', 'two'])
  expect(Object.keys('ab')).toEqual(['0', '1'])
  expect(() => Object.keys(null as never)).toThrow(TypeError)
})
