import { expect, test } from 'vitest'
import { openApp } from '#test/setup/open-service.ts'

const service = openApp()

const find = async (phrase: string): Promise<{ href: string; title: string }[]> =>
  (await service.get(`/docs/search.json?q=${encodeURIComponent(phrase)}`)).body

/** Words of guides, operations, fields and errors, others for the same, phrases and slips: what is looked for is the first. */
test.each([
  ['api key', 'A key'],
  ['webhook', 'Messages of changes'],
  ['webhook signature', 'The message'],
  ['authentication', 'Accounts, tokens and keys'],
  ['fertiliser', 'Fertilizer rates in a polygon'],
  ['fertilzer', 'Fertilizer rates in a polygon'],
  ['bulk', 'Many points'],
  ['5000', 'Many points'],
  ['20,000', 'Limits'],
  ['geojson', 'Many points'],
  ['district', 'Fields and districts'],
  ['error', 'Errors'],
  ['token', 'Accounts, tokens and keys'],
  ['csv', 'An area in one file: CSV, also for ODK'],
  ['sms', 'SMS'],
  ['offline', 'Offline packs'],
  ['retry', 'Sending again'],
  ['rate limit', 'Limits'],
  ['polygon', 'Forage suitability in many polygons'],
  ['NO_DATA', 'NO_DATA'],
  ['history_id', 'Delete an item of your history'],
  ['probability', 'Words'],
  ['password', 'Change the password'],
  ['change PASSWORD', 'Change the password'],
  ['sign up', 'Create an account'],
  ['text message', 'Text messages'],
  ['messages of changes', 'Messages of changes'],
  ['mcp', 'Agents (MCP)'],
])('%s finds first: %s', async (phrase, title) => {
  const found = await find(phrase)
  expect(found[0]?.title).toBe(title)
  expect(found.length).toBeLessThanOrEqual(20)
})

test.each(['', '  ', 'zebra crossing', `${'x'.repeat(5000)}`])('nothing is found for %j', async (phrase) => {
  expect(await find(phrase)).toEqual([])
})

test('an entry says where it leads, with the part of its text that was found', async () => {
  const [found] = await find('idempotency')
  expect(found).toEqual({
    href: expect.any(String),
    title: expect.any(String),
    where: expect.any(String),
    excerpt: expect.stringMatching(/idempotency/i),
  })
})
