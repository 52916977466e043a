import { beforeAll, expect, test } from 'vitest'
import { loadRelease } from '#src/ingest/load.ts'
import { openService } from '#test/setup/open-service.ts'
import { rectangle } from '#test/setup/square.ts'
import { CODES, EAST, NODATA, OUTLOOK, slopes, WEST, withPixels } from './releases.ts'

/** Without Above Normal and the low of Normal in the west, and odds of Below Normal in the east. */
const HOLES = withPixels(
  withPixels(withPixels(OUTLOOK, 0, 0, NODATA, 2600), 0, 4, NODATA, 1900),
  ...([1, 2, 20, NODATA] as const),
)

const service = openService({ template: 'empty' })
beforeAll(async () => {
  await loadRelease(service.database, HOLES)
  await loadRelease(service.database, slopes(CODES))
})

test('a point without one of the numbers lacks the members that need it', async () => {
  const west = await ask('POST /advisory/yield/point', { ...WEST, area: '1 ha' })
  expect(west).not.toHaveProperty('expected')
  expect(west.quantities).not.toHaveProperty('expected')
  expect(west.yield_data).toMatchObject([
    { scenario: 'Normal', probability: 0.3 },
    { scenario: 'Below Normal', probability: 0.2 },
    // Above Normal is the likeliest, and has no value that Dominant could restate.
    { scenario: 'Dominant', yield_kg_ha: 3000 },
  ])
  expect(west.yield_data[0]).not.toHaveProperty('range')
  expect(west.yield_data[2]).not.toHaveProperty('scenario_of')
  const east = await ask('POST /advisory/yield/point', { ...EAST, area: '1 ha' })
  expect(east).not.toHaveProperty('expected')
  expect(east.quantities).not.toHaveProperty('expected')
  expect(east.yield_data[2]).toEqual({ scenario: 'Below Normal', yield_kg_ha: 2200, quantity: { kg: 2200 } })
})

test('a polygon has no odds and ranges that know only a part of its values', async () => {
  const body = await ask('POST /advisory/yield', { geometry: rectangle(38.25, 9.2, 38.75, 9.8) })
  const [, normal, below] = body.yield_data
  expect(normal).toMatchObject({ scenario: 'Normal', yield_kg_ha: 2200, probability: 0.3 })
  expect(normal).not.toHaveProperty('range')
  expect(below).not.toHaveProperty('probability')
  expect(body).not.toHaveProperty('expected')
})

test('where the landscape knows only a part of a polygon, the rest of the mixture is of the default', async () => {
  const body = await ask('POST /advisory/fertilizer', { geometry: rectangle(38.75, 9.2, 39.25, 9.8) })
  expect(body.condition_source).toBe('landscape layer')
  const rates = body.fertilizer_data.map((entry: Record<string, unknown>) => [
    entry.condition,
    entry.rate_kg_ha,
  ])
  expect(rates).toEqual([
    [undefined, 6.5],
    [undefined, 26.5],
  ])
  const shares = body.by_condition.map((one: Record<string, unknown>) => [one.condition, one.share_percent])
  expect(shares).toEqual([
    ['foot slope', 0],
    ['mid slope', 50],
    ['hill', 50],
  ])
})

async function ask(request: string, payload?: object) {
  const answer = await service.ask(request, { payload, by: service.person })
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}
