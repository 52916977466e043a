import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createOutlineStore, isOutside } from '#src/lookup/areas.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { boundaryFile, feature, loadFile, rectangle } from '#test/setup/boundaries.ts'

let service: TestApp

beforeAll(async () => {
  service = await createTestApp({ template: 'empty' })
  await load('eth', rectangle(37, 6, 39, 12))
})
afterAll(() => service.close())

async function load(country: string, shape: object): Promise<void> {
  const path = await boundaryFile([feature({ code: country, name: 'A place' }, shape)])
  await loadFile(service.database, path, country, 0)
}

async function version(): Promise<string> {
  const { rows } = await sql<{ version: string }>`select boundaries_version() as version`.execute(
    service.database.reader,
  )
  return rows[0]?.version as string
}

test('outlines are in memory once they were read, of the boundaries that were loaded then', async () => {
  const store = createOutlineStore(service.database.reader)
  const before = await version()
  expect(store.known(before)).toBeUndefined()
  await store.read(before)
  expect(store.known(before)?.pieces.map(({ countryCode }) => countryCode)).toEqual(['eth'])
  expect(store.state()).toEqual({ vertices: 5 })

  await load('ken', rectangle(36, 3.5, 37, 5.5))
  const after = await version()
  expect(store.known(after)).toBeUndefined()
  await store.read(after)
  expect(store.known(after)?.pieces.map(({ countryCode }) => countryCode)).toEqual(['eth', 'ken'])
  expect(store.known(before)).toBeUndefined()
})

test('outlines of more vertices than there is room for are not kept', async () => {
  const store = createOutlineStore(service.database.reader, 4)
  const boundaries = await version()
  await store.read(boundaries)
  expect(store.known(boundaries)).toBeUndefined()
  expect(store.state()).toEqual({ vertices: 0 })
})

test('a position is clear of areas that are 11 cm away and more', async () => {
  const store = createOutlineStore(service.database.reader)
  const boundaries = await version()
  await store.read(boundaries)
  const outlines = store.known(boundaries)
  const isClear = (longitude: number, latitude: number) =>
    outlines && isOutside(outlines, { longitude, latitude })
  expect([isClear(38, 7), isClear(39, 7), isClear(39.0000009, 7)]).toEqual([false, false, false])
  expect([isClear(39.0000011, 7), isClear(-120, 40)]).toEqual([true, true])
})
