import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import type { LocationValidation } from '#schemas/location.ts'
import type { Products } from '#schemas/products/define.ts'
import { createLocationValidator } from '#src/advice/location/routes.ts'
import type { Config } from '#src/config.ts'
import type { Database } from '#src/data/client.ts'
import { createTileStores } from '#src/data/tiles/stores.ts'
import { EVERYBODY } from '#src/lib/limiter.ts'
import { createLookup } from '#src/lookup/lookup.ts'
import { type AskedPlace, locatedBySql } from './by-sql.ts'
import { arbitraryPlaces } from './places.ts'

export interface Comparison {
  places: number
  /** Of them, those in areas, those of which a nearest country is told, and those with a hint. */
  inside: number
  near: number
  swapped: number
  /** Those where any product has a value. */
  withValue: number
  /** Those that are answered from memory as well. */
  fromMemory: number
  differences: { place: AskedPlace; answer: LocationValidation; expected: LocationValidation }[]
}

const PLACES_AT_ONCE = 500

/** Compares what is answered of so many places, drawn by a seed, with what PostGIS says. */
export async function comparePlaces(
  database: Database,
  config: Config,
  products: Products,
  { places: count, seed }: { places: number; seed: number },
): Promise<Comparison> {
  const { reader } = database
  // What is published stays as it is, however long this takes.
  const lookup = createLookup({
    database,
    tiles: createTileStores(database),
    config: { ...config, RELEASE_MAX_AGE_MS: Number.MAX_SAFE_INTEGER },
    products,
  })
  const { fromDatabase, fromMemory } = createLocationValidator(reader, lookup, products.list)
  const place = await arbitraryPlaces(reader)
  const counts: Comparison = {
    places: 0,
    inside: 0,
    near: 0,
    swapped: 0,
    withValue: 0,
    fromMemory: 0,
    differences: [],
  }

  while (counts.places < count) {
    const numRuns = Math.min(PLACES_AT_ONCE, count - counts.places)
    const asked = fc.sample(place, { numRuns, seed: seed + counts.places })
    const expected = await locatedBySql(reader, products.list, asked)
    const answers = await Promise.all(asked.map((one) => fromDatabase(one, EVERYBODY)))
    for (const [at, answer] of answers.entries()) {
      counts.places++
      if (answer.country_code !== null) counts.inside++
      if (answer.nearest) counts.near++
      if (answer.hint) counts.swapped++
      if (Object.values(answer.products).some(({ available }) => available)) counts.withValue++
      const [one, right] = [asked[at] as AskedPlace, expected[at] as LocationValidation]
      if (!isDeepStrictEqual(answer, right)) counts.differences.push({ place: one, answer, expected: right })
      // The tiles and cells of the first answer are in memory now.
      const repeated = fromMemory(one)
      if (repeated === undefined) continue
      counts.fromMemory++
      if (!isDeepStrictEqual(repeated, right))
        counts.differences.push({ place: one, answer: repeated, expected: right })
    }
  }
  return counts
}
