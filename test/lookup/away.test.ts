import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { PRODUCTS } from '#schemas/products/index.ts'
import { createLocationValidator } from '#src/advice/location/validation.ts'
import { loadConfig } from '#src/config.ts'
import { createTileStores } from '#src/data/tiles/stores.ts'
import { EVERYBODY } from '#src/lib/limiter.ts'
import { createLookup } from '#src/lookup/lookup.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { createProxiedApp, type ProxiedApp } from '#test/setup/proxied-app.ts'
import { askFertilizer } from '#test/setup/releases.ts'

// Runs on a server alone: a network that is cut is the subject.

/** How long another release may take to be seen. */
const FRESH_MS = 500

const FIELD = { lat: 9.5, lng: 38.5 }
const OTHER_FIELD = { lat: 7.5, lng: 36.5 }
const GULF_OF_GUINEA = { lat: 2, lng: -0.5 }
const KIGALI = { lat: -1.95, lng: 30.06 }

describe('a database that goes away', () => {
  let service: ProxiedApp
  beforeAll(async () => {
    service = await createProxiedApp({ RELEASE_MAX_AGE_MS: String(FRESH_MS) })
  })
  afterEach(() => service.proxy.mend())
  afterAll(() => service.close())

  test('is not missed for RELEASE_MAX_AGE_MS where the tiles of a point are in memory, and no longer', async () => {
    const { app, proxy } = service
    const away = { status: 503, code: 'DATABASE_UNAVAILABLE' }
    expect((await askFertilizer(app, FIELD)).status).toBe(200)
    const gone = performance.now()
    let lastAnswered = gone
    await proxy.cut()
    await vi.waitFor(
      async () => {
        const asked = performance.now()
        const answer = await askFertilizer(app, FIELD)
        if (answer.status === 200) lastAnswered = asked
        expect(answer).toMatchObject(away)
      },
      { ...PATIENCE, interval: 20 },
    )
    // It was asked at latest when it went away.
    expect(lastAnswered - gone).toBeLessThan(FRESH_MS)
    // A tile that is not in memory is missed at once.
    await proxy.mend()
    expect((await askFertilizer(app, FIELD)).status).toBe(200)
    await proxy.cut()
    expect(await askFertilizer(app, OTHER_FIELD)).toMatchObject(away)
    await proxy.mend()
    expect((await askFertilizer(app, OTHER_FIELD)).status).toBe(200)
  })

  test('is not missed by places in memory, and is by others', async () => {
    const { database, databaseUrl, proxy } = service
    // Known for longer than the test takes.
    const config = loadConfig({ DATABASE_URL: databaseUrl, RELEASE_MAX_AGE_MS: '60000' })
    const lookup = createLookup({
      database,
      tiles: await createTileStores(database),
      config,
      products: PRODUCTS,
    })
    const locations = createLocationValidator(database.reader, lookup, PRODUCTS.list)
    const answer = await locations.fromDatabase(KIGALI, EVERYBODY)
    expect(answer).toMatchObject({
      valid: true,
      country_code: 'rwa',
      products: { yield: { available: true } },
    })
    const atSea = await locations.fromDatabase(GULF_OF_GUINEA, EVERYBODY)
    expect(atSea).toMatchObject({ valid: false, nearest: { country_code: 'gha' } })
    await proxy.cut()
    expect(locations.fromMemory(KIGALI)).toEqual(answer)
    expect(await locations.fromDatabase(KIGALI, EVERYBODY)).toEqual(answer)
    await expect(locations.fromDatabase(FIELD, EVERYBODY)).rejects.toThrow()
    await expect(locations.fromDatabase(GULF_OF_GUINEA, EVERYBODY)).rejects.toThrow()
  })
})
