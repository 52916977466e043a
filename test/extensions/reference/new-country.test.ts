import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '#src/data/database.ts'
import { ingestManifest, manifestText, writeManifest } from '#test/ingest/fixtures.ts'
import { TAGS, writeTiff } from '#test/ingest/tiff.ts'
import { boundaryFile, feature, loadFile, rectangle } from '#test/setup/boundaries.ts'
import { newFolder } from '#test/setup/folders.ts'
import { openService } from '#test/setup/open-service.ts'
import { operatorOf } from './operator.ts'

const DODOMA = { lat: -6.17, lng: 35.74 }
const NAKURU = { lat: -0.3, lng: 36.08 }
const FIELD = rectangle(35.7, -6.2, 35.8, -6.1)

describe('Tanzania and maize in Kenya, added while the service runs', () => {
  let codes: { forage: string; tanzania: string; kenya: string }

  /** Asks for an advisory, with the token of the person who keeps a history of it. */
  const ask = (url: string, payload: object) => service.post(url, { by: service.person, payload })

  const get = async (url: string) => (await service.get(url, { by: service.person })).body

  const service = openService({ template: 'empty', settings: { RELEASE_MAX_AGE_MS: '0' } })
  beforeAll(async () => {
    const { database } = service
    // Whatever is kept in memory is there before anything is added.
    const before = await ask('/advisory/forage/point', { ...DODOMA, country_code: 'tza' })
    expect(before.body.error).toBe('country_code must be one of eth, gha, ken, rwa.')
    await get('/openapi.json')

    const operator = operatorOf(database)
    await operator.addCountry('tza', 'Tanzania')
    await operator.nameCountry('tza', 'TZ', 'Tanzanie')
    // Where Tanzania lies is not known yet: nothing is refused for it, and nothing changes for the others.
    const nothing = await ask('/advisory/forage', { geometry: FIELD, country_code: 'tza' })
    expect(nothing.body.code).toBe('NO_RELEASE')
    const swapped = rectangle(9, 38, 9.5, 38.5)
    expect(await ask('/advisory/forage', { geometry: swapped, country_code: 'eth' })).toMatchObject({
      status: 400,
      body: { code: 'INVALID_GEOMETRY' },
    })
    const outline = [feature({ shapeName: 'Tanzania' }, rectangle(29.3, -11.7, 40.4, -1))]
    const region = (code: string, name: string, ...sides: Parameters<typeof rectangle>) =>
      feature({ ADM1_PCODE: code, ADM1_EN: name, ADM0_EN: 'Tanzania' }, rectangle(...sides))
    const regions = [
      region('TZ01', 'Dodoma', 34.8, -7.5, 36.7, -4.6),
      region('TZ02', 'Iringa', 34.2, -9.1, 36.7, -7.5),
    ]
    await loadFile(database, await boundaryFile(outline), 'tza', 0)
    await loadFile(database, await boundaryFile(regions), 'Tanzanie', 1)
    await operator.addCrop('maize', 'Maize')
    await operator.nameCrop('maize', 'Corn', 'Maïs')
    await operator.offer('tza', 'maize')
    await operator.offer('ken', 'maize')
    const maize = { product: 'yield', crop: 'maize', forecast_period: '2026-07' }
    codes = {
      tanzania: await ingest(database, { ...maize, country_code: 'tza' }, {}, [30, -2], 1500),
      kenya: await ingest(database, { ...maize, country_code: 'ken' }, {}, [33, 5], 2100),
      forage: await ingest(
        database,
        { product: 'forage', country_code: 'tza', crop: undefined, forecast_period: undefined },
        { input: 'Chloris gayana', unit: 'score' },
        [30, -2],
        0.5,
      ),
    }
  })

  const MAIZE = { crop: 'maize', country_code: 'tza' }
  const HARVEST = { yield_data: [{ scenario: 'Normal', yield_kg_ha: 1500 }] }
  const AREA = { yield_data: [{ yield_kg_ha: 1500, covered_percent: 100 }] }
  test.each<[url: string, payload: object, body: object]>([
    [
      'yield/point',
      { ...DODOMA, ...MAIZE, country_code: 'TZA' },
      { ...MAIZE, release: 'yield-tza-maize-2026-07-v1', ...HARVEST },
    ],
    ['yield/point', { ...NAKURU, ...MAIZE, country_code: 'ken' }, { yield_data: [{ yield_kg_ha: 2100 }] }],
    [
      'point',
      { ...DODOMA, ...MAIZE },
      {
        yield: HARVEST,
        fertilizer: { code: 'NO_RELEASE' },
        isfm: { code: 'NO_RELEASE' },
        forage: { forage_data: [{ forage_variety: 'Chloris gayana', suitability_score: 0.5 }] },
      },
    ],
    [
      'yield/points',
      { points: [DODOMA, NAKURU], ...MAIZE },
      { items: [HARVEST, { code: 'OUTSIDE_COUNTRY' }] },
    ],
    ['yield', { geometry: FIELD, ...MAIZE }, AREA],
    [
      'yield',
      { admin: { country_code: 'tza', code: 'TZ01' }, crop: 'maize' },
      { location: { name: 'Dodoma' }, ...AREA },
    ],
  ])('answer at %s: %j', async (url, payload, body) => {
    expect(await ask(`/advisory/${url}`, payload)).toMatchObject({ status: 200, body })
  })

  test('are where the coordinates of a polygon seem to be swapped', async () => {
    const swapped = { geometry: rectangle(-6.2, 35.7, -6.1, 35.8), ...MAIZE }
    expect((await ask('/advisory/yield', swapped)).body.error).toContain('did you mean lng, lat?')
  })

  test('answer for the crop by its aliases as well, whose code is kept and told', async () => {
    const value = { yield_data: [{ yield_kg_ha: 1500 }] }
    for (const crop of ['corn', ' MAÏS ', 'MAI\u0308S']) {
      const asked = { crop, country_code: 'tza' }
      expect((await ask('/advisory/yield/point', { ...DODOMA, ...asked })).body).toMatchObject(value)
    }
    const asked = { crop: 'corn', country_code: 'tza' }
    expect((await ask('/advisory/yield', { geometry: FIELD, ...asked })).body).toMatchObject(value)
    const many = await ask('/advisory/yield/points', { points: [DODOMA], ...asked })
    expect(many.body).toMatchObject({ items: [value] })
    const errorOf = async (url: string, changes: object) =>
      (await ask(`/advisory/${url}`, { ...DODOMA, ...asked, ...changes })).body.error
    expect([
      await errorOf('isfm/point', {}),
      await errorOf('yield/point', { forecast_period: '2026-08' }),
      await errorOf('yield/point', { crop: 'wheat' }),
      await errorOf('yield/point', { country_code: 'uga' }),
    ]).toEqual([
      'No ISFM recommendations of maize for Tanzania have been published yet.',
      'There are no yield predictions of maize for Tanzania in 2026-08; published are: 2026-07.',
      'The crop is not available for Tanzania; its crops are: maize.',
      'country_code must be one of eth, gha, ken, rwa, tza.',
    ])
    const nowhere = await ask('/validate_location', { lat: 0, lng: 0, crop: 'corn' })
    expect(nowhere.body).toMatchObject({ valid: false, crop: 'maize' })
    const { items } = await get('/history/my?country_code=tza')
    const { advisories } = await get('/stats')
    for (const { crop } of [...items, ...advisories.by_crop]) expect(['maize', null]).toContain(crop)
    expect(items[0].releases).toEqual([codes.tanzania])
  })

  test('are in the catalog, among the areas, and where a point lies', async () => {
    const { countries, crops, releases, boundaries } = await get('/catalog')
    expect(countries.slice(2)).toEqual([
      { code: 'ken', name: 'Kenya', crops: ['maize'] },
      { code: 'rwa', name: 'Rwanda', crops: ['potato'] },
      { code: 'tza', name: 'Tanzania', crops: ['maize'] },
    ])
    expect(crops[0]).toEqual({ code: 'maize', name: 'Maize' })
    expect(releases.map(({ release }: { release: string }) => release).sort()).toEqual(
      Object.values(codes).sort(),
    )
    expect(boundaries).toMatchObject([
      { country_code: 'tza', level: 0, areas: 1 },
      { country_code: 'tza', level: 1, areas: 2 },
    ])
    for (const name of ['tza', 'TZ', 'tanzania', 'Tanzánie']) {
      const { items } = await get(`/admin?admin0=${encodeURIComponent(name)}&level=1`)
      expect(items.map((area: { code: string }) => area.code)).toEqual(['TZ01', 'TZ02'])
    }
    expect(await ask('/validate_location', DODOMA)).toMatchObject({
      body: {
        valid: true,
        country: 'Tanzania',
        admin: [{ level: 1, code: 'TZ01', name: 'Dodoma' }],
        crop: 'maize',
        products: { yield: { available: true }, isfm: { available: false, reason: 'NO_RELEASE' } },
      },
    })
  })

  test.each([
    ['where its rasters have a value', NAKURU, true, null, { available: true }],
    ['where they have none', { lat: 20, lng: 30 }, false, null, { available: false, reason: 'NO_DATA' }],
    ['where another country lies as well', { lat: -3, lng: 36 }, true, 'tza', { available: true }],
  ])(
    'of Kenya, which has no outline, its rasters say what there is %s',
    async (_, place, valid, country_code, found) => {
      // By the database, and from memory.
      for (let time = 0; time < 2; time++) {
        const { body } = await ask('/validate_location', { ...place, country_code: 'ken' })
        expect(body).toMatchObject({ valid, country_code, crop: 'maize', products: { yield: found } })
      }
    },
  )

  test('are in the document, whatever its form', async () => {
    for (const path of ['/openapi.json', '/openapi.yaml']) {
      const { text } = await service.get(path)
      expect(text.replaceAll(/\s+/g, ' ')).toContain('places in Ethiopia, Rwanda, Kenya, Ghana or Tanzania:')
      expect(text).toContain('one of `eth`, `rwa`, `ken`, `gha`, `tza`.')
      expect(text).not.toMatch(/\{country (codes|names)/)
    }
  })
})

/** Loads a raster of one value: 100 x 100 pixels of 0.1 degrees, from a north-western corner on. */
async function ingest(
  database: Database,
  settings: Record<string, unknown>,
  layer: Record<string, unknown>,
  [west, north]: [number, number],
  value: number,
): Promise<string> {
  const folder = await newFolder()
  await writeTiff(join(folder, 'values.tif'), {
    width: 100,
    height: 100,
    row: () => new Float32Array(100).fill(value),
    tags: {
      [TAGS.pixelScale]: ['double', [0.1, 0.1, 0]],
      [TAGS.tiepoints]: ['double', [0, 0, 0, west, north, 0]],
    },
  })
  const text = manifestText([{ file: 'values.tif', ...layer }], settings)
  return (await ingestManifest(database, await writeManifest(folder, text))).code
}
