import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AdminAreaList } from '#schemas/areas.ts'
import type { AdminCountry, AreaFilter } from '#src/catalog/area-queries.ts'
import {
  type AreaSource,
  areaList,
  createAreaMemory,
  featureCollection,
  storedAreas,
} from '#src/catalog/areas.ts'
import { boundaryFile, feature, loadFile, rectangle } from '#test/setup/boundaries.ts'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'
import { createProxiedApp } from '#test/setup/proxied-app.ts'

const WAITS = { wait: <Result>(work: () => Promise<Result>) => work(), waitInTurn: waitNot }
function waitNot<Result>(work: () => Promise<Result>): Promise<Result> {
  return work()
}

const LONG_MS = 600_000

/** What is answered about a page, in both forms. */
async function answered(source: AreaSource, filter: AreaFilter): Promise<string> {
  const rows = await source.page(filter)
  const next = rows.at(-1)?.more ? 'more' : null
  const forms = [areaList, featureCollection].map((form) => form(filter.countryCode, rows, next))
  return JSON.stringify(forms)
}

describe('areas from memory', () => {
  let service: TestAppWithPerson
  beforeAll(async () => {
    service = await createTestAppWithPerson()
  })
  afterAll(() => service.close())

  test.each([
    ['as many as there are', undefined, ['eth', 'gha', 'ken', 'rwa', 'xxx']],
    // All is asked of the database then.
    ['none, since they are too many', { areasOfLevel: 2, bytes: 2 ** 20 }, ['rwa', 'xxx']],
    ['none, since they take too much', { areasOfLevel: 1000, bytes: 1000 }, ['rwa', 'xxx']],
  ])('are those that the database has, page by page: %s', async (_, room, countryCodes) => {
    const { database } = service
    const memory = createAreaMemory(database, LONG_MS, room)(WAITS)
    const stored = storedAreas(database.reader)
    for (const countryCode of countryCodes) {
      for (const level of [1, 2, 3]) {
        const ofLevel = {
          countryCode,
          level,
          parent: null,
          after: null,
          limit: 5000,
          geometry: 'none',
        } as const
        const codes = (await stored.page(ofLevel)).map(({ code }) => code)
        const parents = level > 1 ? (await stored.page({ ...ofLevel, level: level - 1 })).slice(0, 2) : []
        for (const after of [
          null,
          '',
          codes[3] ?? 'B',
          `${codes[3]}\u{1F33E}`,
          '\uFFFD',
          codes.at(-1) ?? 'Z',
        ]) {
          for (const parent of [null, ...parents.map(({ code }) => code), 'nowhere']) {
            for (const limit of [1, codes.length - 1, codes.length].filter((one) => one > 0)) {
              const filter = { ...ofLevel, after, parent, limit }
              expect(await answered(memory, filter)).toBe(await answered(stored, filter))
            }
          }
        }
      }
    }
  })

  test('are of the countries that the database finds by a name', async () => {
    const memory = createAreaMemory(service.database, LONG_MS)(WAITS)
    const stored = storedAreas(service.database.reader)
    expect(await memory.countryCodes()).toEqual(await stored.countryCodes())
    for (const name of ['eth', ' ET ', 'Éthiopie', 'Republic of  Rwanda', 'RWA', 'Uganda', '']) {
      for (const level of [0, 1, 3]) {
        const country = await stored.country(name, level)
        expect(await memory.country(name, level)).toEqual(country)
        for (const code of country ? ['ETH', 'RWA', 'RW', 'ET01', 'nowhere'] : []) {
          const has = await stored.hasAreaAbove(country as AdminCountry, level, code)
          expect(await memory.hasAreaAbove(country as AdminCountry, level, code)).toBe(has)
        }
      }
    }
  })

  test('are those of new boundaries within two seconds of their load', async () => {
    const province = (name: string) => feature({ code: 'A', name }, rectangle(-1, 6, 0, 7))
    for (const name of ['Before', 'After']) {
      await loadFile(service.database, await boundaryFile([province(name)]), 'gha', 1)
      const loaded = performance.now()
      for (let found: string | undefined; found !== name; ) {
        const asked = performance.now()
        const response = await service.app.inject({
          url: '/admin?admin0=gha&level=1',
          headers: service.person.headers,
        })
        found = response.json<AdminAreaList>().items[0]?.name
        if (asked - loaded >= 2000) expect(found).toBe(name)
      }
    }
  })
})

test.skipIf(process.env.TEST_DATABASE_KIND === 'embedded')(
  'areas in memory are answered without the database, and others are not',
  async () => {
    const service = await createProxiedApp()
    const memory = createAreaMemory(service.database, LONG_MS)(WAITS)
    const ofLevel = (level: number) =>
      ({ countryCode: 'ken', level, parent: null, after: null, limit: 10, geometry: 'none' }) as const
    const known = await answered(memory, ofLevel(1))
    await service.proxy.cut()
    expect(await memory.country('Kenya', 1)).toMatchObject({ code: 'ken', levels: [0, 1, 2, 3] })
    expect(await answered(memory, ofLevel(1))).toBe(known)
    await expect(memory.page(ofLevel(2))).rejects.toThrow()
    await service.close()
  },
)

test.skipIf(process.env.TEST_DATABASE_KIND === 'embedded')(
  'where all levels have not enough room, those that are asked for stay and those that are not make room',
  async () => {
    const service = await createProxiedApp()
    // For two of the three levels, whichever they are.
    const memory = createAreaMemory(service.database, LONG_MS, { areasOfLevel: 100, bytes: 12_000 })(WAITS)
    const pageOf = (countryCode: string) =>
      memory.page({ countryCode, level: 1, parent: null, after: null, limit: 10, geometry: 'none' })
    await pageOf('rwa')
    await pageOf('gha')
    await pageOf('rwa')
    await pageOf('eth')
    await service.proxy.cut()
    expect(await pageOf('rwa')).not.toEqual([])
    expect(await pageOf('eth')).not.toEqual([])
    await expect(pageOf('gha')).rejects.toThrow()
    await service.close()
  },
)
