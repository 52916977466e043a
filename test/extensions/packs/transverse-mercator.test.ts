import { describe, expect, test } from 'vitest'
import { findUtmZone, projectUtm } from '#src/extensions/packs/transverse-mercator.ts'
import { transformPositions } from '#src/maps/queries.ts'
import { openDatabase } from '#test/setup/open-service.ts'
import { createRandom } from '#test/setup/random.ts'

const POINTS = 20_000

/** Metres on a side of the smallest pixels. */
const PIXEL = 10

describe('positions in zones of UTM', () => {
  const opened = openDatabase('empty')

  test('lie in the pixels that PostGIS finds, and less than a micrometre off', async () => {
    const random = createRandom(7)
    for (const srid of [32636, 32637, 32631, 32736]) {
      const zone = findUtmZone(srid) as NonNullable<ReturnType<typeof findUtmZone>>
      // Countries reach into the zones beside their own.
      const longitudes = Array.from({ length: POINTS / 4 }, () => zone.centralMeridian + 14 * random() - 7)
      const latitudes = longitudes.map(() => 60 * random() - 30)
      const found = await transformPositions(opened.database.reader, srid, longitudes, latitudes)
      let [furthest, elsewhere] = [0, 0]
      for (const [at, { x, y }] of found.entries()) {
        const [easting, northing] = projectUtm(zone, longitudes[at] as number, latitudes[at] as number)
        furthest = Math.max(furthest, Math.abs(easting - x), Math.abs(northing - y))
        const isSame =
          Math.floor(x / PIXEL) === Math.floor(easting / PIXEL) &&
          Math.floor(y / PIXEL) === Math.floor(northing / PIXEL)
        if (!isSame) elsewhere++
      }
      expect([srid, elsewhere]).toEqual([srid, 0])
      expect(furthest).toBeLessThan(1e-6)
    }
  })

  test('are found for the codes of the zones on WGS 84 alone', () => {
    expect([32601, 32660, 32701, 32760].map((srid) => findUtmZone(srid)?.centralMeridian)).toEqual([
      -177, 177, -177, 177,
    ])
    expect([32600, 32661, 32700, 32761, 4326, 20137, 3857].map(findUtmZone)).toEqual(Array(7).fill(undefined))
  })
})
