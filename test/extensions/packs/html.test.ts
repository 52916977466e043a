import { describe, expect, test } from 'vitest'
import { ERRORS } from '#src/errors.ts'
import { findPackArea, MOST_STORED_BYTES, planContent } from '#src/extensions/packs/content.ts'
import { MOST_HTML_BYTES } from '#src/extensions/packs/html.ts'
import { answerAt, type Pack } from '#src/extensions/packs/reading.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { createLookup } from '#src/lookup/lookup.ts'
import type { NumberedCoverage } from '#src/lookup/releases.ts'
import { FERTILIZER, loadRegion, YIELD } from '#test/maps/certain-releases.ts'
import { openApp } from '#test/setup/open-service.ts'
import { runsOf } from '#test/setup/property-runs.ts'
import { gridOf, layerOf, releaseOn } from '#test/setup/releases.ts'
import { differences, drawPlaces, MADE_AT, makePack } from './made-packs.ts'

/** More on demand: `PLACES=2000`. */
const PLACES = Number(process.env.PLACES ?? runsOf(300))

/** Of levels 3, 2 and 1: of countries with one crop, several and none. */
const AREAS = [
  ['ETH', 'ETH-03-01-01'],
  ['eth', 'ETH-09-02'],
  ['rwa', 'RWA-01'],
  ['gha', 'GHA-01'],
] as const

describe('a pack of the demo', () => {
  const service = openApp()

  test.each(AREAS)('answers as the service does at random places: %s %s', async (country, code) => {
    const { pack } = await makePack(service, country, code.toLowerCase())
    expect(pack.area.code).toBe(code)
    for (const crop of pack.crops) {
      const places = drawPlaces(pack, Math.ceil(PLACES / pack.crops.length))
      expect(await differences(service, pack, places, crop)).toEqual([])
    }
  })

  test('of a district is small, and the page in it smaller', async () => {
    const { html, content } = await makePack(service, 'eth', 'ETH-03-01-01')
    const page = html.toString().replace(/(id="pack">)[^<]*/, '$1')
    expect(html.length).toBeLessThan(400_000)
    expect(page.length).toBeLessThan(150_000)
    expect(content.madeAt).toBe(MADE_AT.toISOString())
    expect(content.area).toMatchObject({ countryCode: 'eth', level: 3, places: [] })
    expect(content.area.parents.map(({ level }) => level)).toEqual([0, 1, 2])
  })

  test('has nothing from elsewhere, and a policy that allows none', async () => {
    const { html } = await makePack(service, 'eth', 'ETH-03-01-01')
    const text = html.toString()
    expect(text).toContain("default-src 'none'; script-src 'sha256-")
    expect(text).not.toContain('connect-src')
    expect(text).not.toMatch(/@font-face|url\(/)
    expect(text.replace(/<script>.*?<\/script>/s, '')).not.toMatch(/(?:src|href)="/)
  })

  test('may ask the service alone for a newer one, where it knows its address', async () => {
    const version = { tag: '"a"', url: 'https://advisory.example/agro/packs/eth/ETH-03-01-01.html' }
    const { html, pack } = await makePack(service, 'eth', 'ETH-03-01-01', version)
    expect(html.toString()).toContain('; connect-src https://advisory.example; ')
    expect(pack.version).toEqual(version)
  })

  test('lists the areas inside, with a place of each', async () => {
    const { pack } = await makePack(service, 'eth', 'ETH-09-02')
    expect(pack.area.places.length).toBeGreaterThan(0)
    for (const { code, level } of pack.area.places) {
      expect([level, code.startsWith('ETH-09-02-')]).toEqual([3, true])
    }
  })

  test('is refused where it takes more bytes than a page may have, with the areas below', async () => {
    const refused = makePack(service, 'eth', 'ETH')
    await expect(refused).rejects.toMatchObject({ code: 'TOO_MANY_POINTS' })
    const { details, message } = await refused.catch((error) => error)
    expect(message).toContain(
      ` bytes, and a pack at most ${MOST_HTML_BYTES}. Ask for areas of level 1 in it: `,
    )
    expect(details[0].allowed).toContain('ETH-01')
  })

  test('is refused before a pixel is read where a phone would unpack too many', async () => {
    const { app } = service
    const lookup = createLookup(app)
    const { releaseOf, ...snapshot } = await lookup.current()
    const finer = ({ pixelWidth, pixelHeight, width, height, ...coverage }: NumberedCoverage) => ({
      ...coverage,
      ...{
        pixelWidth: pixelWidth / 20,
        pixelHeight: pixelHeight / 20,
        width: width * 20,
        height: height * 20,
      },
    })
    const area = await findPackArea(
      { app },
      { ...snapshot, releaseOf },
      {
        ...{ countryCode: 'eth', code: 'ETH-03', level: null },
      },
    )
    const planned = planContent(
      { app, lookup },
      {
        ...snapshot,
        releaseOf(series) {
          const release = releaseOf(series)
          return release && { ...release, coverages: release.coverages.map(finer) }
        },
      },
      area,
    )
    await expect(planned).rejects.toThrow(`bytes of pixels, and a pack at most ${MOST_STORED_BYTES}.`)
  })

  test('knows neither other areas nor other countries', async () => {
    await expect(makePack(service, 'eth', 'ETH-99')).rejects.toMatchObject({ code: 'UNKNOWN_AREA' })
    await expect(makePack(service, 'xyz', 'ETH-01')).rejects.toMatchObject({ code: 'INVALID_PARAMETERS' })
  })

  test('says nothing of places outside its area', async () => {
    const { pack } = await makePack(service, 'eth', 'ETH-03-01-01')
    expect(answerAt(pack, { lat: -1, lng: 36.5, crop: 'wheat' })).toBeNull()
  })
})

describe('a pack with odds, ranges, conditions and projected grids', () => {
  const service = openApp({
    template: 'empty',
    prepare: async (database) => {
      await loadRegion(database)
      await loadRelease(database, YIELD)
      await loadRelease(database, FERTILIZER)
      // A zone of UTM, with gaps and an integer type; and a system on another ellipsoid.
      const utm = gridOf(32637, [385_000, 1_052_000], [900, -1100], [70, 55])
      const pixels = Int16Array.from({ length: 70 * 55 }, (_, at) => (at % 7 === 0 ? -1 : at))
      const layer = layerOf('Compost', {
        unit: 't/ha',
        pixelType: '16BSI',
        nodata: -1,
        scale: 0.003,
        offset: -2,
        decimals: 1,
      })
      await loadRelease(database, releaseOn(utm, [layer], [pixels], { product: 'isfm' }))
      const adindan = gridOf(20137, [300_000, 1_200_000], [10_000, -10_000], [30, 30])
      const score = layerOf('Lablab', { scenario: null, unit: 'score' })
      const forage = { product: 'forage', cropCode: null, forecastPeriod: null }
      await loadRelease(database, releaseOn(adindan, [score], [new Float32Array(900).fill(0.5)], forage))
    },
  })

  test('answers as the service does, also for each condition, and where an unknown one is refused', async () => {
    const { pack } = await makePack(service, 'eth', 'a')
    const list = pack.releases.flatMap(({ conditions }) => conditions?.list ?? [])
    expect(list.length).toBeGreaterThan(1)
    const known = { ...pack, products: pack.products.filter(({ code }) => code !== 'forage') }
    for (const condition of [undefined, ...list.map((one) => one.condition), 'a valley']) {
      const places = drawPlaces(pack, PLACES).map((place) => ({ ...place, ...(condition && { condition }) }))
      const answers = places.map((place) => answerAt(known as Pack, { ...place, crop: 'wheat' }))
      const differing: unknown[] = []
      for (const [index, place] of places.entries()) {
        const payload = { ...place, crop: 'wheat', country_code: 'eth' }
        const answer = await service.post('/advisory/point', { payload })
        const { location: _, forage: __, ...expected } = answer.body
        const own = { ...answers[index]?.body, location: undefined }
        if (answer.status !== 200 || JSON.stringify(own) !== JSON.stringify(expected)) {
          differing.push([place, answer.status, JSON.stringify(expected), JSON.stringify(own)])
        }
      }
      expect(differing.slice(0, 2)).toEqual([])
    }
  })

  test('says from the end of its season on that a release is older than that', async () => {
    const { pack } = await makePack(service, 'eth', 'A')
    const [place] = drawPlaces(pack, 1) as [{ lat: number; lng: number }]
    const staleOn = (day: string) => {
      const { body } = answerAt(pack, { ...place, crop: 'wheat', now: new Date(`${day}T12:00:00Z`) }) ?? {}
      return Object.entries(body?.yield as object).at(-1)
    }
    expect(staleOn('2027-07-31')).toEqual(['synthetic', false])
    expect(staleOn('2027-08-01')).toEqual(['stale', true])
  })

  test('leaves out a release on another system of coordinates, and says so', async () => {
    const { pack, html } = await makePack(service, 'eth', 'A')
    const [place] = drawPlaces(pack, 1) as [{ lat: number; lng: number }]
    const answer = answerAt(pack, { ...place, crop: 'wheat' })
    // The service has a value there, and no such code.
    expect(answer?.body.forage).toEqual({
      forage_data: null,
      error: expect.stringContaining('EPSG:20137'),
      code: 'NOT_IN_PACK',
    })
    expect(Object.keys(ERRORS)).not.toContain('NOT_IN_PACK')
    const alone = { ...pack, products: pack.products.filter(({ code }) => code === 'forage') }
    const index = pack.products.findIndex(({ code }) => code === 'forage')
    const series = pack.series.filter((one) => one.product === index).map((one) => ({ ...one, product: 0 }))
    expect(answerAt({ ...alone, series } as Pack, { ...place, crop: 'wheat' })).toEqual({
      status: 404,
      body: {
        error: expect.stringContaining('EPSG:20137'),
        code: 'NOT_IN_PACK',
        details: [{ field: 'forage', message: expect.stringContaining('EPSG:20137'), code: 'NOT_IN_PACK' }],
      },
    })
    expect(html.length).toBeLessThan(MOST_HTML_BYTES)
  })
})
