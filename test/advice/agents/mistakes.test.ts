// Runs on both databases: names are compared by statements of their own.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Agent, connectAgent } from '#test/setup/agents.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'

let service: TestApp
let agent: Agent
beforeAll(async () => {
  service = await createTestApp()
  agent = await connectAgent(await service.app.listen({ host: '127.0.0.1', port: 0 }), 2026)
})
afterAll(async () => {
  await agent.close()
  await service.close()
})

/** What a tool said that it does not do. */
async function refusalOf(name: string, input: object) {
  const { text, isError } = await agent.call(name, input)
  expect(isError, text).toBe(true)
  return JSON.parse(text)
}

test.each([
  [{ lat: 38.5, lng: 9.5 }, 'advise_point', 'See that lat and lng are not swapped.'],
  [
    { lat: 9.5, lng: 38.5, country_code: 'rwa' },
    'advise_point',
    'Leave country_code out, and see that lat and lng are not swapped.',
  ],
  [
    { lat: -1, lng: 36.5, product: 'yield' },
    'advise_point',
    'Call catalogue to see the crops of each country.',
  ],
  [
    { lat: 9.5, lng: 38.5, product: 'yield', crop: 'rice' },
    'advise_point',
    'Leave crop out, or take one that catalogue has for the country.',
  ],
  [
    { lat: 9.5, lng: 38.5, product: 'yield', forecast_period: '2020-01' },
    'advise_point',
    'Leave forecast_period out, or call releases to see what is published.',
  ],
  [{ product: 'yield', area: 'Amhara', level: 3 }, 'advise_area', 'Find the code with where_is and name.'],
])('mend speaks of what %j has', async (input, tool, mend) => {
  expect((await refusalOf(tool, input)).mend).toBe(mend)
})

test.each([
  ['advise_point', { lat: 9.5, lng: 38.5, corp: 'maize' }, 'corp', 'crop'],
  ['advise_point', { lat: 9.5, lng: 38.5, country: 'rwa' }, 'country', 'country_code'],
  ['advise_point', { latitude: 9.5, lng: 38.5 }, 'latitude', 'lat'],
  ['releases', { prodcut: 'yield' }, 'prodcut', 'product'],
  ['catalogue', { foo: 1 }, 'foo', undefined],
])('%s refuses %j: it knows no such argument', async (tool, input, field, meant) => {
  const said = await refusalOf(tool, input)
  expect(said.code).toBe('INVALID_PARAMETERS')
  expect(said.details[0].field).toBe(field)
  const hint = meant === undefined ? '' : ` (did you mean ${meant}?)`
  expect(said.details[0].message).toBe(`${field} is not an argument of ${tool}${hint}`)
  if (meant !== undefined) expect(said.error).toContain(`did you mean ${meant}?`)
})

test('an argument that is not known counts as left out where it is null', async () => {
  expect((await agent.call('catalogue', { foo: null })).isError).toBe(false)
})

test('where_is says which areas have almost the name that was asked for', async () => {
  const { content } = await agent.call('where_is', { name: 'Addis Abeba' })
  expect(content.areas).toEqual([])
  expect((content.did_you_mean as object[])[0]).toMatchObject({ country_code: 'eth', name: 'Addis Ababa' })
})
