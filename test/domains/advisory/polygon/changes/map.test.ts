import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadRelease } from '#src/ingest/load.ts'
import { type ColourAt, readPng } from '#test/domains/advisory/map/palette-png.ts'
import { operatorOf } from '#test/domains/reference/operator.ts'
import { boundaryFile, feature, loadFile, rectangle } from '#test/setup/boundaries.ts'
import { testOnServer } from '#test/setup/on-server.ts'
import { createTestAppWithPerson, makeAdmin, type TestAppWithPerson } from '#test/setup/people.ts'
import { layerOf, releaseDescription } from '#test/setup/releases.ts'

const NODATA = -1
const DIFF = '/releases/fertilizer-eth-wheat-2026-07-v1/diff/fertilizer-eth-wheat-2026-07-v2'

/** Areas of a degree side by side, from 36 E: what Urea is before and after, and the colour of that. */
const AREAS: [code: string, before: number, after: number, colours: string[]][] = [
  ['A', 100, 130, ['#01665e']],
  ['B', 100, 110, ['#c7eae5']],
  ['C', 100, 101, ['#f5f5f5']],
  ['D', 100, 95, ['#f6e8c3']],
  ['E', 100, 70, ['#8c510a']],
  ['F', NODATA, 100, ['#01665e', '#ffffff']],
  ['G', 100, NODATA, ['#404040']],
  ['H', NODATA, NODATA, ['#bdbdbd']],
]

const SOUTH = 7
const NORTH = 11

let service: TestAppWithPerson

/** A release whose layers have a value in each area, in pixels of half a degree. */
function load(layers: Record<string, number[]>, countryCode = 'eth') {
  const [width, height] = [2 * AREAS.length, 2 * (NORTH - SOUTH)]
  const pixelsOf = (values: number[]) =>
    Float32Array.from({ length: width * height }, (_, at) => values[Math.floor((at % width) / 2)] as number)
  return loadRelease(service.database, {
    description: releaseDescription({ countryCode, checksum: JSON.stringify(layers) }),
    coverages: [
      {
        grid: {
          ...{ srid: 4326, originX: 36, originY: NORTH, pixelWidth: 0.5, pixelHeight: -0.5 },
          ...{ width, height },
        },
        layers: Object.keys(layers).map((input) => layerOf(input, { nodata: NODATA })),
        windows: [{ column: 0, row: 0, width, height }],
        read: async () => Object.values(layers).map(pixelsOf),
      },
    ],
  })
}

const all = (value: number) => AREAS.map(() => value)

beforeAll(async () => {
  service = await createTestAppWithPerson({ template: 'empty', settings: { RELEASE_MAX_AGE_MS: '0' } })
  await makeAdmin(service)
  const areas = AREAS.map(([code], index) =>
    feature({ code, name: `Area ${code}` }, rectangle(36 + index, SOUTH, 37 + index, NORTH)),
  )
  await loadFile(service.database, await boundaryFile(areas), 'eth', 1)
  await load({ DAP: all(100), Urea: AREAS.map(([, before]) => before) })
  await load({ DAP: all(112), Urea: AREAS.map(([, , after]) => after) })
})
afterAll(() => service.close())

async function mapOf(url: string, headers: Record<string, string> = {}) {
  const response = await service.app.inject({ url, headers: { ...service.person.headers, ...headers } })
  expect([response.statusCode, response.headers['content-type']]).toEqual([200, 'image/png'])
  return readPng(response.rawPayload)
}

/** The corner of the map in the picture, below three lines of title. */
const CORNER = { x: 20, y: 104 }

/** The map is so many pixels wide, and a degree of longitude is shorter than one of latitude by the cosine of 9 degrees. */
const WIDTH = 1120
const DEGREE = WIDTH / AREAS.length
const HEIGHT = Math.round((DEGREE * (NORTH - SOUTH)) / Math.cos((9 * Math.PI) / 180))

/** Not every pixel is looked at; each colour of stripes is met nevertheless. */
const STEP = 5

/** The colours in a degree of longitude, but for the pixels beside its borders. */
function coloursIn(colourAt: ColourAt, index: number): (string | null)[] {
  const found = new Set<string | null>()
  for (let y = CORNER.y + 2; y < CORNER.y + HEIGHT - 2; y += STEP) {
    for (let x = CORNER.x + index * DEGREE + 2; x < CORNER.x + (index + 1) * DEGREE - 2; x += STEP) {
      found.add(colourAt(x, y))
    }
  }
  return [...found].sort()
}

describe('GET /releases/{a}/diff/{b} as PNG', () => {
  test.each([
    ['?format=png', {}],
    ['', { accept: 'image/png' }],
  ])(
    'fills each area with the colour of its change, of the layer that changes most: %j %j',
    async (query, headers) => {
      const { colourAt } = await mapOf(DIFF + query, headers)
      for (const [index, [code, , , colours]] of AREAS.entries()) {
        expect([code, coloursIn(colourAt, index)]).toEqual([code, colours])
      }
    },
  )

  testOnServer(
    'draws lines between areas, and has distances in the middle alike in all directions',
    async () => {
      const { width, height, colourAt } = await mapOf(`${DIFF}?format=png`)
      const middle = CORNER.y + Math.floor(HEIGHT / 2)
      const besideBorder = [-1, 0].map((beside) => colourAt(CORNER.x + DEGREE + beside, middle))
      expect(besideBorder.sort()).toEqual(['#01665e', '#666666'])
      expect(height).toBe(CORNER.y + HEIGHT + 20)
      expect(Math.max(width, height)).toBeLessThanOrEqual(1600)
      expect(colourAt(CORNER.x + 10, CORNER.y + HEIGHT + 2)).toBe('#ffffff')
    },
  )

  testOnServer('explains the colours in a legend', async () => {
    const { colourAt } = await mapOf(`${DIFF}?format=png`)
    const swatches = Array.from({ length: 10 }, (_, line) =>
      colourAt(CORNER.x + WIDTH + 20 + 18, CORNER.y + 28 * line + 10),
    )
    expect(swatches.toSpliced(7, 1)).toEqual([
      ...['#01665e', '#5ab4ac', '#c7eae5', '#f5f5f5', '#f6e8c3', '#d8b365', '#8c510a'],
      ...['#404040', '#bdbdbd'],
    ])
  })

  test('draws the layer that is asked for', async () => {
    const { colourAt } = await mapOf(`${DIFF}?format=png&layer=1`)
    expect(AREAS.map((_, index) => coloursIn(colourAt, index))).toEqual(AREAS.map(() => ['#5ab4ac']))
  })

  testOnServer.each([
    [3, 'layer must be at most 2.'],
    [0, 'layer must be a whole number from 1 to 512.'],
  ])('refuses layer %i', async (layer, sentence) => {
    const { headers } = service.person
    const response = await service.app.inject({ url: `${DIFF}?format=png&layer=${layer}`, headers })
    expect([response.statusCode, response.json().code, response.json().error]).toEqual([
      400,
      'INVALID_PARAMETERS',
      sentence,
    ])
  })

  test('fills all that a release covers where no areas are loaded, then areas on both sides of the 180th meridian', async () => {
    await operatorOf(service.database).addCountry('fji', 'Fiji')
    await load({ Urea: all(100) }, 'fji')
    await load({ Urea: all(90) }, 'fji')
    const path = DIFF.replaceAll('eth', 'fji')
    const { colourAt } = await mapOf(`${path}?format=png`)
    expect(AREAS.map((_, index) => coloursIn(colourAt, index))).toEqual(AREAS.map(() => ['#f6e8c3']))

    const areas = [
      feature({ code: 'W', name: 'West' }, rectangle(176, SOUTH, 180, NORTH)),
      feature({ code: 'E', name: 'East' }, rectangle(-180, SOUTH, -176, NORTH)),
    ]
    await loadFile(service.database, await boundaryFile(areas), 'fji', 1)
    const around = await mapOf(`${path}?format=png`)
    const columns = [0, 1, 2, 5, 6, 7].map((index) => coloursIn(around.colourAt, index))
    expect(columns).toEqual(columns.map(() => ['#bdbdbd']))
  })
})
