import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { adviceOn } from '#src/data/embedded/cluster.ts'
import { listExportsOnce, readUsedFiles } from '#src/data/embedded/postgis.ts'
import { describeFileError, listenForLastWords } from '#src/data/embedded/protocol.ts'

/** As it comes with the package. */
const ARCHIVE = new URL(
  '../../node_modules/@electric-sql/pglite-postgis/dist/postgis.tar.gz',
  import.meta.url,
)

test('of PostGIS, a start takes the files that it uses', async () => {
  const files = await readUsedFiles(ARCHIVE)
  expect(files.includes('lib/postgresql/postgis_raster-3.so')).toBe(true)
  expect(files.includes('lib/postgresql/postgis_topology-3.so')).toBe(false)
  expect(files.length).toBeLessThan(60e6)
})

describe('names of exports', () => {
  const { keys } = Object
  beforeAll(listExportsOnce)
  afterAll(() => {
    Object.keys = keys
  })

  test('are listed once of a module of PostgreSQL', () => {
    const module = { Pg_magic_func: () => 0, ST_Value: () => 1 }
    const names = Object.keys(module)
    expect(names).toEqual(['Pg_magic_func', 'ST_Value'])
    expect(Object.keys(module)).toBe(names)
    expect(Object.keys({ ...module, other: 1 })).toEqual(['Pg_magic_func', 'ST_Value', 'other'])
  })

  test('are listed of anything else whenever they are asked for', () => {
    const folder: Record<string, number> = { one: 1 }
    expect(Object.keys(folder)).toEqual(['one'])
    folder.two = 2
    expect(Object.keys(folder)).toEqual(['one', 'two'])
    expect(Object.keys('ab')).toEqual(['0', '1'])
    expect(() => Object.keys(null as never)).toThrow(TypeError)
  })
})

test.each([
  [51, 'ENOSPC: no space left on device', 'Make room there.'],
  [69, 'EROFS: read-only file system', 'Set DATA_DIR to one that can be written to.'],
])(
  'an error of files that has the number %i alone is said in words, with what to do',
  (errno, said, advice) => {
    expect(describeFileError({ name: 'ErrnoError', errno })).toBe(said)
    expect(adviceOn(said)).toBe(advice)
  },
)

test('other errors say what they say', () => {
  const said = 'PGlite failed to initialize properly'
  expect(describeFileError(new Error(said))).toBe(said)
})

test('what a client has PostgreSQL log is not taken for its last words', () => {
  const at = '2026-11-22 16:56:31.798 GMT [42] '
  const said = `${at}PANIC:  boo`
  const lastWords = listenForLastWords()
  lastWords.hear(`${at}ERROR:  invalid input syntax for type integer: "${said}"`)
  lastWords.hear(`\t${said}`)
  lastWords.hear(`${at}DETAIL:  Token "${said}" is invalid.`)
  lastWords.hear(`${at}STATEMENT:  select '${said}'`)
  lastWords.hear(`\t${said}'`)
  expect(lastWords.spoken()).toBeUndefined()
})
