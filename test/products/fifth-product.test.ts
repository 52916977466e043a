import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import type { OpenAPIV3_1 } from 'openapi-types'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { buildApp } from '#src/app.ts'
import type { Database } from '#src/data/database.ts'
import { readManifest } from '#src/ingest/manifest.ts'
import { bodyIn, rowsOf, send } from '#test/advice/batch/forms.ts'
import { postPoint } from '#test/advice/point/ask.ts'
import { askWithin } from '#test/advice/polygon/ask.ts'
import { history } from '#test/history/advisories.ts'
import { ingestManifest, type LayerText, manifestText, writeManifest } from '#test/ingest/fixtures.ts'
import { TAGS, writeTiff } from '#test/ingest/tiff.ts'
import { rectangle } from '#test/setup/boundaries.ts'
import { call, type Sent } from '#test/setup/calls.ts'
import { newFolder } from '#test/setup/folders.ts'
import { openService } from '#test/setup/open-service.ts'
import { newPerson } from '#test/setup/people.ts'
import { WITH_LIME } from './lime.ts'

const OLDER = ['yield', 'fertilizer', 'isfm', 'forage']
const RELEASE = 'lime-eth-wheat-2026-07-v1'
const OF_RELEASE = {
  country_code: 'eth',
  crop: 'wheat',
  forecast_period: 'July 2026',
  forecast_month: '2026-07',
  release: RELEASE,
  synthetic: false,
}

/** Pixels of 0.01 degrees from 38.4 E, 9.6 N; the columns hold 2, 2.25, 2.5 and 2.75 tons, over and over. */
const WEST = 38.4
const NORTH = 9.6
const tonsIn = (column: number) => 2 + 0.25 * (column % 4)

/** In the sixth column. */
const FIELD = { lat: 9.555, lng: 38.455, name: 'My field' }
const TONS = tonsIn(5)
const LIME = [
  { material: 'Dolomite', scenario: 'Normal', lime_tons_ha: TONS / 2 },
  { material: 'Limestone', scenario: 'Normal', lime_tons_ha: TONS },
]

let folder: string

async function limeManifest(changes: LayerText | object = {}): Promise<string> {
  const file = join(folder, 'lime.tif')
  const layers = [
    { file, input: 'Limestone', unit: 't/ha', ...changes },
    { file, input: 'Dolomite', unit: 't/ha', scale: 0.5 },
  ]
  const text = manifestText(layers, { product: 'lime', forecast_period: '2026-07' })
  return writeManifest(folder, text)
}

async function ingestLime(database: Database): Promise<void> {
  folder = await newFolder()
  await writeTiff(join(folder, 'lime.tif'), {
    width: 20,
    height: 20,
    row: () => Float32Array.from({ length: 20 }, (_, column) => tonsIn(column)),
    tags: { [TAGS.tiepoints]: ['double', [0, 0, 0, WEST, NORTH, 0]] },
  })
  const loaded = await ingestManifest(database, await limeManifest(), { products: WITH_LIME })
  expect(loaded).toMatchObject({ code: RELEASE, published: true })
  const scales = { 'Above Normal': 60, Normal: 80, 'Below Normal': 140 }
  const layers = Object.entries(scales).map(([scenario, scale]) => ({
    ...{ file: join(folder, 'lime.tif'), scenario, unit: 'mm', scale },
  }))
  const text = manifestText(layers, { product: 'irrigation', forecast_period: '2026-07' })
  const irrigation = await writeManifest(folder, text, 'irrigation.yaml')
  const { findings } = await ingestManifest(database, irrigation, { products: WITH_LIME })
  // More water in a drier season is no mistake.
  expect(findings?.filter(({ check }) => check === 'labels')).toEqual([])
}

const service = openService({ products: WITH_LIME, prepare: ingestLime })

const ask = (request: string, sent: Sent = { payload: FIELD }) => service.ask(request, sent)

describe('a product that is only defined', () => {
  test('has manifests with rules of its own, and none where it is not defined', async () => {
    const wrong = await limeManifest({ input: undefined, unit: 'kg/ha' })
    await expect(readManifest(wrong, WITH_LIME)).rejects.toThrow(
      /layers\[0\]\.input is missing: it names a liming material, such as Limestone\n.*must be t\/ha for lime/,
    )
    await expect(readManifest(await limeManifest())).rejects.toThrow(
      'product must be one of yield, fertilizer, isfm, forage',
    )
  })

  test('is answered at a point, by POST and by GET', async () => {
    const { status, headers, body } = await postPoint(service.app, 'lime', { body: FIELD })
    expect([status, headers['advisory-release']]).toEqual([200, RELEASE])
    const { lat, lng, name } = FIELD
    const location = { name, lat, lng, type: 'point' }
    expect(body).toEqual({ location, ...OF_RELEASE, lime_data: LIME })
    const got = await ask(`GET /advisory/lime/point?lat=${lat}&lng=${lng}&name=My%20field`, {})
    expect(got.body).toEqual(body)
    expect(got.headers['cache-control']).toMatch(/^public/)
  })

  test.each([
    [
      { lat: 9.5, lng: 41 },
      'NO_DATA',
      'has no lime recommendations: the published rasters have no value there.',
    ],
    [
      { lat: -1.95, lng: 30.06, country_code: 'rwa', crop: 'potato' },
      'NO_RELEASE',
      'No lime recommendations of potato for Rwanda have been published yet.',
    ],
  ])('says why there is none at %j', async (place, code, sentence) => {
    const { body } = await postPoint(service.app, 'lime', { body: place })
    expect(body.code).toBe(code)
    expect(body.error).toContain(sentence)
  })

  test('is answered at many points, also in a table', async () => {
    const points = [
      { id: 'a', ...FIELD },
      { id: 'b', lat: 9.5, lng: 41 },
    ]
    const type = 'application/json'
    const payload = bodyIn(type, points)
    const { items } = (await send(service.app, 'lime', { payload, type })).body
    expect(items[0]).toMatchObject({ id: 'a', ...OF_RELEASE, lime_data: LIME })
    expect(items[1]).toMatchObject({ id: 'b', lime_data: null, code: 'NO_DATA' })
    const table = await send(service.app, 'lime', { payload, type, accept: 'text/csv' })
    expect(rowsOf(table.text)[0]).toMatchObject({
      'lime_tons_ha Dolomite Normal': String(TONS / 2),
      'lime_tons_ha Limestone Normal': String(TONS),
    })
  })

  test('is answered in a polygon, with its total', async () => {
    const geometry = rectangle(38.4, 9.59, 38.44, 9.6)
    const { status, body } = await askWithin(service.app, service.person, 'lime', { geometry })
    expect(status).toBe(200)
    const [dolomite, limestone] = body.lime_data
    expect(dolomite).toMatchObject({ material: 'Dolomite', lime_tons_ha: 1.188, min: 1, max: 1.375 })
    expect(limestone).toMatchObject({
      material: 'Limestone',
      lime_tons_ha: 2.375,
      stddev: 0.28,
      covered_percent: 100,
    })
    expect(limestone.total_tons / (2.375 * body.location.area_ha)).toBeCloseTo(1, 3)
  })

  test('is a part of the answer for all products', async () => {
    const { headers, body } = await ask('POST /advisory/point')
    const sections = [...OLDER, 'lime', 'soil', 'irrigation']
    expect(Object.keys(body).filter((name) => sections.includes(name))).toEqual(sections)
    expect(body.lime).toEqual({ ...OF_RELEASE, lime_data: LIME })
    const error = 'No soil acidities for Ethiopia have been published yet.'
    expect(body.soil).toEqual({ soil_data: null, error, code: 'NO_RELEASE' })
    expect(headers['advisory-release']).toContain(RELEASE)
  })

  test('is in the catalog, and says of a place whether it has a value', async () => {
    const { products, releases } = (await ask('GET /catalog', {})).body
    expect(products).toContainEqual({
      product: 'lime',
      unit: 't/ha',
      value: { key: 'lime_tons_ha', unit: 't/ha', description: 'Metric tons per hectare.' },
      needs_crop: true,
      path: '/advisory/lime/point',
    })
    expect(releases.find(({ release }: { release: string }) => release === RELEASE)).toMatchObject({
      product: 'lime',
      inputs: ['Dolomite', 'Limestone'],
      units: ['t/ha'],
    })
    const validated = await ask('POST /validate_location', { by: service.person, payload: FIELD })
    expect(validated.body.products).toMatchObject({
      forage: { available: true },
      lime: { available: true },
      soil: { available: false, reason: 'NO_RELEASE' },
    })
  })

  test('is kept in the history, which gives it as JSON, CSV and GeoJSON, with what was observed', async () => {
    const by = await newPerson(service.app)
    const { history_id: id, ...answer } = (await ask('POST /advisory/lime/point', { by, payload: FIELD }))
      .body
    await ask('POST /advisory/yield/point', { by, payload: FIELD })

    const give = async (observed: object) =>
      (await ask(`POST /history/${id}/feedback`, { by, payload: { rating: 5, observed } })).body
    const observed = { yield_kg_ha: 3000, lime_tons_ha: 2.25, harvested_on: '2026-11-20' }
    expect(await give({ ...observed, weather: 1 })).toMatchObject({ rating: 5, observed })
    expect((await give({ lime_tons_ha: 51 })).details).toMatchObject([{ field: 'observed.lime_tons_ha' }])

    const item = (await history(service, by, id)).body
    expect(item).toMatchObject({
      product: 'lime',
      crop: 'wheat',
      releases: [RELEASE],
      answer,
      feedback: { observed },
    })
    const ofLime = (accept?: string) => history(service, by, 'my?product=lime', accept)
    expect((await ofLime()).body.items).toEqual([item])
    const columns = { unit: 't/ha', N_Dolomite: TONS / 2, N_Limeston: TONS }
    expect((await ofLime('application/geo+json')).body.features).toMatchObject([
      { properties: { product: 'lime', ...columns } },
    ])

    const csv = (await ofLime('text/csv')).text
    const rows: Record<string, string>[] = parse(csv, { columns: true })
    const common = {
      product: 'lime',
      release: RELEASE,
      forecast_period: 'July 2026',
      scenario: 'Normal',
      unit: 't/ha',
      observed_yield_kg_ha: '3000',
      observed_lime_tons_ha: '2.25',
      harvested_on: '2026-11-20',
    }
    expect(rows).toMatchObject([
      { ...common, input: 'Dolomite', value: String(TONS / 2) },
      { ...common, input: 'Limestone', value: String(TONS) },
    ])

    const { advisories } = (await ask('GET /stats', { by })).body
    expect(advisories.by_product).toContainEqual({ product: 'lime', advisories: 1 })
  })

  test('does not disturb a process that does not know it yet', async () => {
    const by = await newPerson(service.app)
    const ids: string[] = []
    for (const path of ['lime/point', 'point'])
      ids.push((await ask(`POST /advisory/${path}`, { by, payload: FIELD })).body.history_id)
    const older = await buildApp(service.testDatabase.config, service.database)
    onTestFinished(() => older.close())
    for (const path of ['/catalog', '/stats', '/history/my', ...ids.map((id) => `/history/${id}`)])
      expect([path, (await call(older, `GET ${path}`, { by })).status]).toEqual([path, 200])
    const csv = await call(older, 'GET /history/my', { by, headers: { accept: 'text/csv' } })
    const rows: Record<string, string>[] = parse(csv.text, { columns: true })
    expect([...new Set(rows.map(({ product }) => product))].toSorted()).toEqual(OLDER.toSorted())
    const location = await call(older, 'POST /validate_location', { by, payload: FIELD })
    expect(Object.keys(location.body.products)).toEqual(OLDER)
    expect((await call(older, 'POST /advisory/lime/point', { by, payload: FIELD })).status).toBe(404)
  })
})

describe('a product in millimetres', () => {
  const DEPTHS = [
    { scenario: 'Above Normal', need_mm: 60 * TONS },
    { scenario: 'Normal', need_mm: 80 * TONS },
    { scenario: 'Below Normal', need_mm: 140 * TONS },
  ]

  test('is answered with its unit in texts, the normal season first', async () => {
    const { body } = await ask('POST /advisory/irrigation/point')
    expect(body.irrigation_data).toEqual(DEPTHS)
    const { text } = await ask('GET /advisory/irrigation/point?lat=9.555&lng=38.455&format=text', {})
    expect(text.trim()).toBe(
      'Irrigation (wheat) Jul 2026: Normal 180 mm; Above Normal 135 mm; Below Normal 315 mm.',
    )
  })

  test('has no quantities, nor members of requests for them', async () => {
    const payload = { ...FIELD, area: { value: 2, unit: 'ha' } }
    const { body } = await ask('POST /advisory/irrigation/point', { payload })
    expect([body.irrigation_data, body.quantities]).toEqual([DEPTHS, undefined])
    const { schemas } = (await service.get('/openapi.json')).body.components
    for (const name of ['PointRequest', 'PointsRequest']) {
      const { properties } = schemas[`Irrigation${name}`]
      expect([name, 'crop' in properties, 'area' in properties]).toEqual([name, true, false])
    }
  })
})

describe('the document of a service with more products', () => {
  type Document = OpenAPIV3_1.Document & { components: { schemas: Record<string, object> } }
  let usual: Document
  let document: Document
  beforeAll(async () => {
    const usualApp = await buildApp(service.testDatabase.config, service.database)
    usual = (await call(usualApp, 'GET /openapi.json')).body
    await usualApp.close()
    document = (await service.get('/openapi.json')).body
  })

  test('has their operations, and all that was there before', () => {
    const operationsOf = ({ paths = {} }: Document) =>
      Object.values(paths).flatMap((path) =>
        Object.values(path ?? {}).map((operation) => (operation as { operationId: string }).operationId),
      )
    const [before, after] = [usual, document].map(operationsOf) as [string[], string[]]
    const newOnes = ['lime', 'soil', 'irrigation'].flatMap((code) => [
      ...['AtPoint', 'AtPoints', 'InPolygon', 'InPolygons'].map((name) => code + name),
      ...['AtPoint', 'AtPlace'].map((name) => `get${code.charAt(0).toUpperCase()}${code.slice(1)}${name}`),
    ])
    expect(after.toSorted()).toEqual([...before, ...newOnes].toSorted())
    expect(Object.keys(document.components.schemas)).toEqual(
      expect.arrayContaining(Object.keys(usual.components.schemas)),
    )
  })

  test('says of them what is said of the others', () => {
    const { LimeEntry, PolygonLimeEntry, Observed, SoilPointRequest, CatalogCountry, CatalogProductProduct } =
      document.components.schemas as Record<string, { properties: Record<string, object> }>
    const keysOf = (schema: typeof LimeEntry) => Object.keys(schema?.properties ?? {})
    expect(keysOf(LimeEntry)).toEqual([
      ...['material', 'scenario', 'condition', 'lime_tons_ha', 'probability', 'range', 'scenario_of'],
      'quantity',
    ])
    expect(PolygonLimeEntry?.properties.total_tons).toMatchObject({ type: 'number' })
    expect(Observed?.properties.lime_tons_ha).toMatchObject({ minimum: 0, maximum: 50 })
    expect(keysOf(SoilPointRequest)).toEqual([
      ...['lat', 'lng', 'country_code', 'name', 'release', 'condition', 'provenance', 'skill'],
      'max_segments',
    ])
    expect(CatalogCountry?.properties.crops).toMatchObject({
      description: 'Codes of the crops it offers; forage and soil need none.',
    })
    expect(CatalogProductProduct).toMatchObject({
      enum: [...OLDER, 'lime', 'soil', 'irrigation'],
    })
    expect(document.paths?.['/advisory/point']?.post?.description).toContain(
      'Yield, fertilizer, organic inputs, forage, lime, soil and irrigation in one call',
    )
  })
})
