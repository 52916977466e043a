import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PRODUCTS } from '#schemas/products/index.ts'
import { createLocationValidator } from '#src/advice/location/routes.ts'
import { loadConfig } from '#src/config.ts'
import { createTileStores } from '#src/data/tiles/stores.ts'
import { EVERYBODY } from '#src/lib/limiter.ts'
import { createLookup, type Lookup } from '#src/lookup/lookup.ts'
import { createProxiedApp, type ProxiedApp } from '#test/setup/proxied-app.ts'

// Runs on a server alone: a network that is cut is the subject.

const GULF_OF_GUINEA = { lat: 2, lng: -0.5 }
const KIGALI = { lat: -1.95, lng: 30.06 }

describe('without the database', () => {
  let service: ProxiedApp
  let lookup: Lookup
  let locations: ReturnType<typeof createLocationValidator>
  beforeAll(async () => {
    service = await createProxiedApp()
    // Known for longer than the test takes.
    const config = loadConfig({ DATABASE_URL: service.databaseUrl, RELEASE_MAX_AGE_MS: '60000' })
    const { database } = service
    const tiles = createTileStores(database)
    lookup = createLookup({ database, tiles, config, products: PRODUCTS })
    locations = createLocationValidator(service.database.reader, lookup, PRODUCTS.list)
  })
  afterAll(() => service.close())

  test('places in memory are answered as before, and others fail', async () => {
    const answer = await locations.fromDatabase(KIGALI, EVERYBODY)
    expect(answer).toMatchObject({
      valid: true,
      country_code: 'rwa',
      products: { yield: { available: true } },
    })
    const atSea = await locations.fromDatabase(GULF_OF_GUINEA, EVERYBODY)
    expect(atSea).toMatchObject({ valid: false, nearest: { country_code: 'gha' } })
    await service.proxy.cut()
    expect(locations.fromMemory(KIGALI)).toEqual(answer)
    expect(await locations.fromDatabase(KIGALI, EVERYBODY)).toEqual(answer)
    const elsewhere = { lat: 9.5, lng: 38.5 }
    await expect(locations.fromDatabase(elsewhere, EVERYBODY)).rejects.toThrow()
    await expect(locations.fromDatabase(GULF_OF_GUINEA, EVERYBODY)).rejects.toThrow()
  })
})
