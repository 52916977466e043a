import { expect, test } from 'vitest'
import { openDatabase } from '#test/setup/open-service.ts'
import { mistakesOfTaken, removeUnable, type Taken, tryStatements } from '#test/setup/prepared-statements.ts'
import { queryOf } from '#test/setup/pristine.ts'
import { oneOfEach } from '#test/setup/sent-statements.ts'

// Runs on both databases: at its end a whole run has the embedded one prepare what it has sent to the server.

const opened = openDatabase('empty')

test('a database prepares each statement, with the types of its parameters, and leaves nothing behind', async () => {
  const made = 'create temporary table made (number integer) on commit drop'
  const statements = [
    'select from country where code = $1 and ordinal > $2',
    'insert into made values ($1)',
    made,
    'declare some no scroll cursor for select from country where code = $1',
    'copy (select name from country) to stdout (format binary)',
    'select nothing from country',
    'select from country',
  ]
  const { pool } = opened.database
  const query = queryOf(pool)
  const before = await query('select count(*) from country')
  expect(Object.fromEntries(await tryStatements(pool, statements))).toEqual({
    [made]: { types: '{}' },
    'insert into made values ($1)': { types: '{integer}' },
    'select from country': { types: '{}' },
    'select from country where code = $1 and ordinal > $2': { types: '{text,integer}' },
    'select nothing from country': { error: 'column "nothing" does not exist' },
    'declare some no scroll cursor for select from country where code = $1': { types: '{text}' },
    'copy (select name from country) to stdout (format binary)': { types: '{}' },
  })
  expect(await query('select count(*) from country')).toEqual(before)
  await expect(query('select from made')).rejects.toThrow('relation "made" does not exist')
})

test('functions that fail when they run are not there to be prepared', async () => {
  const statements = [
    'select st_value(rast, 1, 1, 1) from raster_tile',
    'select st_clip(rast, $1) from raster_tile',
    'select st_transform(rast, 4326) from raster_tile',
    'select st_transform(geom, 3857) from admin_area',
  ]
  const taken = await tryStatements(opened.database.pool, statements, removeUnable)
  expect([...taken.values()]).toEqual([
    { types: '{}' },
    { error: expect.stringContaining('function st_clip(raster, unknown) does not exist') },
    { error: expect.stringContaining('function st_transform(raster, integer) does not exist') },
    { types: '{}' },
  ])
})

test('a statement is named with its place that the embedded database does not take as the server does', () => {
  const sent = ['a', 'b', 'c', 'd'].map((text) => ({ text, from: `src/${text}-queries.ts find` }))
  const takenBut = (but: Record<string, Taken>) =>
    new Map(sent.map(({ text }) => [text, but[text] ?? { types: '{text}' }]))
  const onServer = takenBut({ d: { error: 'column "gone" does not exist' } })
  const embedded = takenBut({
    b: { types: '{integer}' },
    c: { error: 'function st_clip() does not exist' },
  })
  expect(mistakesOfTaken(sent, onServer, embedded)).toEqual([
    'Parameters are {text} on a server, {integer} on the embedded database, in src/b-queries.ts find: b',
    'The embedded database does not prepare a statement (function st_clip() does not exist) of src/c-queries.ts find: c',
    'The server does not prepare a statement (column "gone" does not exist) of src/d-queries.ts find: d',
  ])
})

test('statements that differ in lists and their values alone are one', () => {
  const texts = [
    'select from country where code in ($1, $2)',
    'select from country  where code in ($1, $2, $3)',
    `insert into "crop" ("code", "name") values ($1, $2), ($3, $4)`,
    `insert into "crop" ("code", "name") values ($1, $2)`,
    `select unnest('{1,2}'::integer[])`,
    `select unnest('{3}'::integer[])`,
  ]
  expect(oneOfEach(texts.map((text) => ({ text, from: '' })))).toHaveLength(3)
})
