import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { loadRelease } from '#src/ingest/load.ts'
import { type Answered, columnsOf } from '#test/advice/columns.ts'
import { ringOf } from '#test/advice/polygon/shapes.ts'
import { boundaryFile, feature, loadFile, rectangle } from '#test/setup/boundaries.ts'
import { openService } from '#test/setup/open-service.ts'
import { gridOf, layerOf, releaseDescription } from '#test/setup/releases.ts'

const RELEASE = 'synthetic-yield-eth-wheat-2026-07-v1'
const COLLECTION = `/edr/collections/${RELEASE}`

const coverageOn = (grid: ReturnType<typeof gridOf>, input: string) => ({
  grid,
  layers: [layerOf(input)],
  windows: [{ column: 0, row: 0, width: 1, height: 1 }],
  read: async () => [Float32Array.of(1)],
})

/** A release of two layers, each on a grid of one pixel of its own. */
const TWO_GRIDS = {
  description: releaseDescription(),
  coverages: [
    coverageOn(gridOf(4326, [38, 10], [1, -1], [1, 1]), 'Urea'),
    coverageOn(gridOf(4326, [40, 9], [2, -2], [1, 1]), 'DAP'),
  ],
}

let twoGrids: string

const service = openService({
  prepare: async (database) => {
    const outline = feature({ code: 'ETH', name: 'Ethiopia' }, rectangle(33, 3, 48, 15))
    const regions = [
      feature({ code: 'A', name: 'A region', parent_code: 'ETH' }, rectangle(38, 9, 38.4, 9.4)),
      feature({ code: 'ETH', name: 'As the country', parent_code: 'ETH' }, rectangle(38.4, 9, 39, 10)),
    ]
    await loadFile(database, await boundaryFile([outline]), 'eth', 0)
    await loadFile(database, await boundaryFile(regions), 'eth', 1)
    twoGrids = (await loadRelease(database, TWO_GRIDS)).code
  },
})

const POINT = 'coords=POINT(38.5 9.5)'
const RING = ringOf('38.5 9.5, 38.62 9.5, 38.6 9.58, 38.5 9.5')
const POLYGON = `coords=POLYGON((${RING.map((position) => position.join(' ')).join()}))`

describe('EDR', () => {
  test('describes each published release, and how it may be asked', async () => {
    const { collections } = (await get('/edr/collections')).body
    const listed = collections.find(({ id }: { id: string }) => id === RELEASE)
    const { links, ...described } = (await get(COLLECTION)).body
    expect({ ...described, links: listed.links }).toEqual(listed)
    expect(Object.keys(described.data_queries)).toEqual(['position', 'area', 'locations'])
    expect(described.extent.spatial.bbox[0]).toHaveLength(4)
    expect(described.extent.temporal.interval).toEqual([['2026-07-01T00:00:00Z', '2026-07-31T23:59:59Z']])
    expect(described.parameter_names.yield_kg_ha_above_normal).toEqual({
      id: 'yield_kg_ha_above_normal',
      type: 'Parameter',
      description: 'Predicted yield, Above Normal',
      'data-type': 'float',
      unit: { label: 'kg/ha', symbol: 'kg/ha' },
      observedProperty: { label: 'Predicted yield, Above Normal' },
    })
    for (const { rel, href } of links) {
      if (rel === 'self' || rel === 'alternate') {
        expect((await get(href.slice(href.indexOf('/edr')))).status).toBe(200)
      }
    }
  })

  test('positions share the event loop with other long work, as slices of batches do', async () => {
    const next = vi.spyOn(service.app.slices, 'next')
    onTestFinished(() => next.mockRestore())
    expect((await get(`${COLLECTION}/position?${POINT}`)).status).toBe(200)
    expect(next.mock.calls.length).toBeGreaterThanOrEqual(2)
  })

  test('answers at a point with what the service answers there', async () => {
    const answered = await post('/advisory/yield/point', { lat: 9.5, lng: 38.5 })
    const { status, headers, body } = await get(`${COLLECTION}/position?${POINT}`)
    const type = 'application/prs.coverage+json'
    expect([status, headers]).toMatchObject([200, { 'content-type': type, 'advisory-release': RELEASE }])
    const { domain, parameters, ranges } = body
    expect(domain.axes).toEqual({
      x: { values: [38.5] },
      y: { values: [9.5] },
      t: { values: ['2026-07-01T00:00:00Z'] },
    })
    expect(Object.keys(parameters)).toEqual(Object.keys(ranges))
    expect(valuesOf(ranges)).toEqual(numbersIn(answered))
    const one = await get(`${COLLECTION}/position?${POINT}&f=GeoJSON&parameter-name=yield_kg_ha_normal`)
    expect(one.headers['content-type']).toBe('application/geo+json')
    const [feature] = one.body.features
    expect([feature.geometry.coordinates, feature.properties['parameter-name']]).toEqual([
      [38.5, 9.5],
      ['yield_kg_ha_normal'],
    ])
    expect(feature.properties.yield_kg_ha_normal).toBe(ranges.yield_kg_ha_normal.values[0])
  })

  test('answers at several points with what it answers at each, null where there is no value', async () => {
    const ask = async (coords: string) =>
      (await get(`${COLLECTION}/position?coords=${coords}&parameter-name=yield_kg_ha_normal`)).body
    const [one, other] = [await ask('POINT(38.5 9.5)'), await ask('POINT(39.5 8.5)')]
    const { domainType, coverages } = await ask('MULTIPOINT((38.5 9.5),(39.5 8.5),(0 0))')
    expect(domainType).toBe('Point')
    expect(coverages.map(({ ranges }: typeof one) => valuesOf(ranges)[0])).toEqual([
      valuesOf(one.ranges)[0],
      valuesOf(other.ranges)[0],
      null,
    ])
    expect(coverages[1].domain).toEqual(other.domain)
    const many = Array.from({ length: 101 }, () => '38.5 9.5').join()
    expect((await ask(`MULTIPOINT(${many})`)).error).toBe('coords may have 100 points.')
  })

  test('answers in a polygon with the means that the service answers', async () => {
    const geometry = { type: 'Polygon', coordinates: [RING] }
    const answered = await post('/advisory/yield', { geometry, country_code: 'eth' })
    const means = numbersIn(answered)
    const { domain, ranges } = (await get(`${COLLECTION}/area?${POLYGON}`)).body
    expect(domain.axes.composite).toEqual({
      dataType: 'polygon',
      coordinates: ['x', 'y'],
      values: [[RING]],
    })
    expect(valuesOf(ranges)).toEqual(means)
    const rings = `((${RING.map((position) => position.join(' ')).join()}))`
    const both = (await get(`${COLLECTION}/area?coords=MULTIPOLYGON(${rings},${rings})`)).body
    expect(both.type).toBe('CoverageCollection')
    expect(both.coverages.map((one: { ranges: typeof ranges }) => valuesOf(one.ranges))).toEqual([
      means,
      means,
    ])
  })

  test('answers in areas by their codes', async () => {
    const list = (await get(`${COLLECTION}/locations?limit=2`)).body
    expect([list.numberReturned, list.features[0].id]).toEqual([2, 'ETH'])
    const location = list.features[1].id
    const answered = await post('/advisory/yield', {
      admin: { country_code: 'eth', level: 1, code: location },
    })
    const { ranges } = (await get(`${COLLECTION}/locations/${location}`)).body
    expect(valuesOf(ranges)).toEqual(numbersIn(answered))
    expect((await get(`${COLLECTION}/locations/X`)).body.code).toBe('NOT_FOUND')
    expect((await get(`${COLLECTION}/locations/1:${location}`)).body.ranges).toEqual(ranges)
    expect((await get(`${COLLECTION}/locations/0:${location}`)).body.code).toBe('NOT_FOUND')
  })

  test('names each area by itself, where two levels have the same code', async () => {
    const { features } = (await get(`${COLLECTION}/locations`)).body
    const ids = features.map(({ id }: { id: string }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.slice(-1)).toEqual(['1:ETH'])
    const valuesIn = async (id: string) => valuesOf((await get(`${COLLECTION}/locations/${id}`)).body.ranges)
    expect(await valuesIn('1:ETH')).not.toEqual(await valuesIn('ETH'))
    expect(await valuesIn('1:A')).toEqual(await valuesIn('A'))
  })

  test.each([
    ['/position', 400, 'INVALID_PARAMETERS'],
    ['/position?coords=POINT(1)', 400, 'INVALID_PARAMETERS'],
    ['/position?coords=POINT(200 2)', 400, 'INVALID_PARAMETERS'],
    [`/position?${POINT}&crs=EPSG:3857`, 400, 'INVALID_PARAMETERS'],
    [`/position?${POINT}&parameter-name=rain`, 400, 'INVALID_PARAMETERS'],
    [`/position?${POINT}&datetime=2020-01-01/2020-02-01`, 400, 'INVALID_PARAMETERS'],
    ['/position?coords=POINT(0 0)', 404, 'OUTSIDE_COUNTRY'],
    ['/area?coords=POLYGON((38 9,39 9,39 10))', 400, 'INVALID_GEOMETRY'],
    ['/radius?coords=POINT(1 2)', 404, 'NOT_FOUND'],
  ])('%s is answered %i %s', async (query, status, code) => {
    const answer = await get(COLLECTION + query)
    expect([answer.status, answer.body.code]).toEqual([status, code])
  })
})

test('a release lies where all of its grids do', async () => {
  const bboxOf = async (path: string) => (await get(path)).body.extent.spatial.bbox
  expect(await bboxOf(`/edr/collections/${twoGrids}`)).toEqual([[38, 7, 42, 10]])
})

const get = (path: string) => service.get(`/ogc${path.replaceAll(' ', '%20')}`)

const post = async (path: string, payload: object) =>
  (await service.post(path, { by: service.person, payload })).body

/** Values, then the upper ends of ranges, the lower ones, and the odds. */
function numbersIn(answer: Answered) {
  const columns = columnsOf(answer)
  const kinds = ['yield_kg_ha', 'high', 'low', 'probability']
  return kinds.flatMap((kind) =>
    columns.filter(([name]) => name.startsWith(`${kind} `)).map(([, value]) => value),
  )
}

const valuesOf = (ranges: Record<string, { values: number[] }>) =>
  Object.values(ranges).map(({ values }) => values[0])
