import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Area } from '../../../../web/api-types.ts'
import { source } from '../../../../web/extensions/ogc/areas.ts'
import { rowsOf } from '../../../../web/table/values.ts'
import { releaseOf } from '../../../web/modules/catalog.ts'

const RING: [number, number][] = [
  [0, 0],
  [1, 0],
  [1, 1],
  [0, 0],
]

const AREA: Area = {
  ...{ code: 'one', name: 'One', level: 0, country_code: 'eth', parent: null },
  geometry: { type: 'Polygon', coordinates: [RING] },
}

describe('areas are asked for', () => {
  let answers: Response[]

  beforeEach(() => {
    vi.useFakeTimers()
    vi.stubGlobal('document', { baseURI: 'http://service.test/' })
    vi.stubGlobal('fetch', async () => answers.shift() ?? Response.error())
  })
  afterEach(() => {
    vi.useRealTimers()
    vi.unstubAllGlobals()
  })

  const busy = (headers = {}) => Response.json({ error: 'Busy.' }, { status: 503, headers })

  test('again where the service is busy, when it says or later each time', async () => {
    const { geometry, ...properties } = AREA
    answers = [busy({ 'retry-after': '4' }), busy(), Response.json({ features: [{ geometry, properties }] })]
    const began = Date.now()
    const areas = source.list('eth', 0)
    await vi.runAllTimersAsync()
    expect([await areas, Date.now() - began]).toEqual([[AREA], 6000])
  })
})

describe('a table of more areas than one call takes', () => {
  afterEach(() => {
    vi.unstubAllGlobals()
  })

  const areas = Array.from({ length: 1001 }, (_, at) => ({
    ...{ code: String(at), name: String(at), level: 2, country_code: 'eth', parent: null },
    geometry: { type: 'Polygon' as const, coordinates: [] },
  }))
  /** What the service has, in pages that end where it likes. */
  const tableOf = async (pages: number[], progress: (found: number, all: number) => void) => {
    vi.stubGlobal('document', { baseURI: 'http://service.test/' })
    vi.stubGlobal('fetch', async ({ pathname, searchParams }: URL) => {
      expect(pathname).toBe('/ogc/collections/advisory-one-2/items')
      const offset = Number(searchParams.get('offset'))
      const features = areas.slice(offset, offset + (pages.shift() ?? 0)).map(({ code }) => ({
        properties: { code, 'yield_kg_ha Normal': Number(code), 'min Normal': -1 },
      }))
      return Response.json({ features, numberMatched: areas.length })
    })
    const release = releaseOf({ product: 'yield', country_code: 'eth', release: 'one' })
    const found = await source.figures(areas, release, progress)
    return rowsOf(areas, found, 'yield_kg_ha', null, ['Normal', 'Dominant'])
  }

  test('has the means of all of them, and says how far it is', async () => {
    const seen: number[][] = []
    const rows = await tableOf([1000, 1], (found, all) => seen.push([found, all]))
    expect(rows.map(({ values }) => values)).toEqual(areas.map(({ code }) => [Number(code), null]))
    expect(seen).toEqual([
      [1000, 1001],
      [1001, 1001],
    ])
  })

  test('ends where the service has no more', async () => {
    const rows = await tableOf([1], () => {})
    expect(rows.map(({ values }) => values[0]).slice(0, 2)).toEqual([0, null])
  })
})
