import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PRODUCTS } from '#schemas/products/index.ts'
import { type AdvisoryRecord, TemplatedAnswer } from '#src/history/queries.ts'
import { itemWriter, makeReleaseMembers } from '#src/lookup/releases.ts'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'
import { runsOf } from '#test/setup/property-runs.ts'
import { history, recorderOn, recordOf } from './advisories.ts'

let service: TestAppWithPerson
beforeAll(async () => {
  service = await createTestAppWithPerson()
})
afterAll(() => service.close())

/** The request and the answer of an item, as the database has their text. */
async function textsOf(ids: string[]): Promise<Map<string, { request: string; answer: string }>> {
  const { rows } = await sql<{ id: string; request: string; answer: string }>`
    select id, request::text as request, answer::text as answer from advisory_history
    where user_id = ${service.person.user.id} and id = any(${ids}::uuid[])`.execute(service.database.writer)
  return new Map(rows.map(({ id, ...texts }) => [id, texts]))
}

const text = fc.string({ unit: 'binary', maxLength: 12 })
const odd = fc.constantFrom('\n', 'a\nb', '\u0000', '\ud800', '\u2028', '"\\', '\u{1f33e}', '{}', 'null')
const label = fc.oneof(text, odd)
const value = fc.oneof(
  fc.constantFrom(Number.NaN, 0, -0, 1e21, 1e-7, 0.1 + 0.2, Number.MAX_VALUE, Number.MIN_VALUE),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
)
const coordinate = (most: number) =>
  fc.oneof(fc.constantFrom(-0, 0, 1e-7), fc.double({ min: -most, max: most, noNaN: true }))
const layer = fc.record({ input: fc.option(label), scenario: fc.option(label), decimals: fc.constant(2) })

const answered = fc.record({
  product: fc.constantFrom(...PRODUCTS.list),
  release: fc.record({
    countryCode: label,
    cropCode: fc.option(label),
    code: label,
    forecastPeriod: fc.option(fc.constantFrom('2026-07-01', '1999-12-01')),
    synthetic: fc.boolean(),
    validUntil: fc.constant(null),
    layers: fc.array(layer, { minLength: 1, maxLength: 6 }),
  }),
  points: fc.array(
    fc.record(
      {
        lat: coordinate(90),
        lng: coordinate(180),
        name: label,
        values: fc.array(value, { minLength: 6, maxLength: 6 }),
      },
      { requiredKeys: ['lat', 'lng', 'values'] },
    ),
    { minLength: 1, maxLength: 5 },
  ),
})

test('what is kept of an answer reads byte for byte as it was sent: any product, release, place, name and value', async () => {
  const keep = recorderOn(service.database.writer)
  const property = fc.asyncProperty(answered, async ({ product, release, points }) => {
    const writer = itemWriter(product, release.layers, makeReleaseMembers(release))
    const sent = points.flatMap(({ values, ...point }) => {
      const known = values.slice(0, release.layers.length)
      if (known.every(Number.isNaN)) known[0] = 7
      return { point, expected: writer.answered(point, known), answer: writer.templated(point, known) }
    })
    const ids = await Promise.all(
      sent.map(({ point, answer }) => {
        const changes: Partial<AdvisoryRecord> = {
          product: product.code,
          request: point,
          releases: [release.code.replaceAll('\u0000', '')],
        }
        return keep(recordOf(service.person, { ...changes, answer: answer as TemplatedAnswer }))
      }),
    )
    const kept = await textsOf(ids)
    for (const [index, { point, expected, answer }] of sent.entries()) {
      expect(answer).toBeInstanceOf(TemplatedAnswer)
      expect(`${answer?.open}}`).toBe(expected)
      expect(answer?.bytes).toBe(Buffer.byteLength(expected))
      expect(kept.get(ids[index] as string)).toEqual({ request: JSON.stringify(point), answer: expected })
    }
  })
  await fc.assert(property, { numRuns: runsOf(60) })
})

const PLACES: [product: string, query: string][] = PRODUCTS.list.flatMap(({ code }) => [
  [code, 'lat=9.5&lng=38.5'],
  [code, 'lat=9.0000000000000018&lng=+38.25e0&name=%22Feld%22%20%E2%80%A8%F0%9F%8C%BE'],
  [code, 'lat=-2&lng=30&country_code=RWA&crop=Irish%20Potato&name=%0A'],
  [code, 'lat=-1&lng=36.5&country_code=ken'],
])

test.each([...PLACES, ['', 'lat=9.5&lng=38.5'], ['', 'lat=-1&lng=36.5&country_code=ken']] as [
  string,
  string,
][])('an answer reads in the history as it was sent: %s %s', async (product, query) => {
  const url = `/advisory/${product && `${product}/`}point?${query}`
  for (const method of ['POST', 'GET'] as const) {
    const sent = await service.app.inject({ method, url, headers: service.person.headers })
    const anonymous = await service.app.inject({ method, url })
    expect(sent.statusCode).toBe(anonymous.statusCode)
    if (sent.statusCode !== 200) continue
    const { history_id: id } = sent.json()
    expect(sent.json()).toEqual({ ...anonymous.json(), history_id: id })
    const item = await history(service, service.person, id)
    expect(item.json().answer).toEqual(anonymous.json())
    // The serializer has an order of its own for the members of all products.
    if (!product) continue
    expect(sent.body).toBe(`${anonymous.body.slice(0, -1)},"history_id":"${id}"}`)
    expect((await textsOf([id])).get(id)?.answer).toBe(anonymous.body)
    expect(item.body).toContain(`"answer":${anonymous.body},`)
  }
})
