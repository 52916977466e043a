// Runs on both databases: every operation is asked, with the statements of each.
// In every run: every operation is asked.
import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test, vi } from 'vitest'
import type { App } from '#src/http/app.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { openMailingApp } from '#test/accounts/mails.ts'
import { mistakesOfAnswer, namedHeaders, ownHeaders, textOf } from '#test/setup/answers.ts'
import {
  type Document,
  documentOf,
  type Operation,
  operationsOf,
  type Validator,
  validatorOf,
} from '#test/setup/document.ts'
import { asSomebody, examplesOf } from '#test/setup/example-requests.ts'
import { describeOnServer, testOnServer } from '#test/setup/on-server.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { newPerson, type Person } from '#test/setup/people.ts'
import { PIXEL_CENTRE, realYield } from '#test/setup/releases.ts'

const LAST_DAY = '2999-12-31'
const AT = { lat: String(PIXEL_CENTRE.lat), lng: String(PIXEL_CENTRE.lng) }

const service = openMailingApp({
  template: 'demo',
  // Some members are said of releases alone that are not synthetic, or have a last day. Its month is another one:
  // examples name the synthetic release.
  prepare: (database) =>
    loadRelease(database, realYield({ validUntil: LAST_DAY, forecastPeriod: '2026-08-01' })),
})
let document: Document
let validator: Validator
beforeAll(async () => {
  document = await documentOf(service.app, 'all')
  validator = validatorOf(document, true)
})

test('the examples are answered by a release that is not synthetic', async () => {
  const { synthetic, release } = (await service.get('/advisory/yield/point', { query: AT })).body
  expect(synthetic).toBe(false)
  const { releases } = (await service.get('/catalog')).body
  expect(releases.find((one: { release: string }) => one.release === release).valid_until).toBe(LAST_DAY)
})

/** What was asked, with the names of headers by the status of answers. */
const asked = new Map<Operation, Record<string, Set<string>>>()

const isEmbedded = process.env.TEST_DATABASE_KIND === 'embedded'

/** Whatever looks like a date and a time of day, and how each of them is written: ISO 8601 in UTC, to the millisecond. */
const ANY_TIME = /\d{4}-\d\d-\d\d[T ]\d\d:\d\d[^"',<\s\]]*/g
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

const AS_IT_IS = 'as in its example'

/** What asks for statements of its own: headers that are sent besides, and those that are not. */
const STATEMENTS: Record<string, Record<string, string | undefined>> = {
  [AS_IT_IS]: {},
  'with a key of its own': { 'idempotency-key': 'once' },
  'for files': { accept: 'text/csv, application/geo+json;q=0.9, */*;q=0.1' },
}

/** What an operation may meet. */
const CIRCUMSTANCES: typeof STATEMENTS = {
  [AS_IT_IS]: {},
  // Before too many mails are asked for.
  'with a token of no use': { authorization: 'Bearer x.y.z' },
  ...STATEMENTS,
  'with preferences': { prefer: 'history=none, server-timing, handling=strict', 'accept-encoding': 'gzip' },
  'with the tag of any answer': { 'if-none-match': '*', authorization: undefined },
  'with the tag of any answer, and a token': { 'if-none-match': '*' },
  'without a token': { authorization: undefined },
  'with a media type that it has not': { accept: 'image/png' },
  'as a text message': { accept: 'text/plain' },
}

/** Operations that need something new each time. What others have done is done, and the next one is an error. */
const WORKS_ONCE = ['register', 'resetPassword', 'confirmEmail', 'confirmTwoFactor', 'disableTwoFactor']

test('the document says what every operation answers, to each of its examples with success', {
  timeout: 600_000,
}, async () => {
  const mistakes: string[] = []
  const person = await newPerson(service.app)
  for (const one of operationsOf(document)) asked.set(one.operation, await askAll(one, person, mistakes))
  expect(mistakes).toEqual([])
  expect(asked.size).toBeGreaterThan(35)
})

testOnServer('the document says nothing of headers that no operation sends', () => {
  const neverSent = [...asked].flatMap(([{ operationId, responses }, seen]) =>
    Object.entries(seen).flatMap(([status, headers]) =>
      // A response of several operations has the headers of all of them.
      status.startsWith('2')
        ? namedHeaders(responses[status] as Operation['responses'][string])
            .filter((name) => !headers.has(name))
            .map((name) => `${operationId} ${status}: ${name}`)
        : [],
    ),
  )
  // No history is full, there is one page of it and, unless the machine is busy, of the atlas alone. No example names a
  // release or has a name that its operation does not know.
  const usual = / 200: advisory-history$|(AtPoint|getCoverage) 200: link$|: advisory-ignored$/
  expect(neverSent.filter((name) => !usual.test(name))).toEqual(['listHistory 200: link'])
})

type Documented = ReturnType<typeof operationsOf>[number]

/**
 * Sends each example of an operation, the first one in all circumstances.
 *
 * @returns the names of headers by the status of answers
 */
async function askAll(
  { method, path, operation }: Documented,
  person: Person,
  mistakes: string[],
): Promise<Record<string, Set<string>>> {
  const seen: Record<string, Set<string>> = {}
  const success = Object.keys(operation.responses).find((status) => status.startsWith('2'))
  const examples = examplesOf(document, operation)
  if (examples.length === 0) mistakes.push(`${method} ${path}: no example`)
  for (const [index, { mediaType, body, query }] of examples.entries()) {
    let somebody = await asSomebody(service, operation, path, body)
    if (operation.security?.length === 2) somebody = { ...somebody, headers: person.headers }
    for (const [circumstance, sent] of Object.entries(isEmbedded ? STATEMENTS : CIRCUMSTANCES)) {
      if (index > 0 && circumstance !== AS_IT_IS) continue
      if (WORKS_ONCE.includes(operation.operationId ?? ''))
        somebody = await asSomebody(service, operation, path, body)
      const { url, headers, payload } = somebody
      // The address of the example is taken by then.
      const isNew = operation.operationId === 'register' && circumstance !== AS_IT_IS
      const all = { ...headers, ...(mediaType && { 'content-type': mediaType }), ...sent }
      const request = {
        method: method.toUpperCase() as 'GET',
        url: url + query,
        headers: Object.fromEntries(
          Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined),
        ),
        payload: (isNew ? { ...(payload as object), email: `${randomUUID()}@example.org` } : payload) as
          | object
          | undefined,
      }
      // The second one may be told that it is.
      for (const turn of circumstance === 'with a key of its own' ? [1, 2] : [1]) {
        const ask = async () => {
          const found = await service.app.inject(request)
          return !found.body.startsWith('{"error":"The file is being made;') && found
        }
        const made = await vi.waitUntil(ask, PATIENCE)
        const { statusCode: status, headers, rawPayload } = made as Awaited<ReturnType<App['inject']>>
        const answer = { status, headers, body: rawPayload }
        const label = `${method} ${path} ${circumstance} (${turn}) ${status}`
        const isEmpty = rawPayload.length === 0 && operation.responses[status]?.content !== undefined
        if (circumstance === AS_IT_IS && (`${status}` !== success || isEmpty))
          mistakes.push(`${label}: ${rawPayload}`)
        const found = mistakesOfAnswer(validator, operation, answer)
        mistakes.push(...found.map((mistake) => `${label}: ${mistake}`))
        // The script of a page has sentences with times as examples.
        const isPage = String(headers['content-type']).startsWith('text/html')
        const times = (!isPage && textOf(answer).match(ANY_TIME)) || []
        mistakes.push(...times.filter((time) => !TIME.test(time)).map((time) => `${label}: ${time}`))
        seen[status] ??= new Set()
        for (const name of ownHeaders(answer)) seen[status]?.add(name)
      }
    }
  }
  return seen
}

// No statement is asked for it.
describeOnServer('what is no request of an operation is answered as the operation says', () => {
  const JSON_TYPE = { 'content-type': 'application/json' }

  test.each([
    ['a body of another type', { 'content-type': 'application/xml' }, '<lat>9.5</lat>'],
    ['an unknown encoding', { ...JSON_TYPE, 'content-encoding': 'zstd' }, '{}'],
    ['what was not encoded', { ...JSON_TYPE, 'content-encoding': 'gzip' }, '{}'],
    ['what is not UTF-8', JSON_TYPE, Buffer.from([0x22, 0xff, 0x22])],
    ['what is not JSON', JSON_TYPE, '{'],
    ['what is too long', JSON_TYPE, ' '.repeat(9_000_000)],
    ['two hosts', { host: ['a', 'b'] }, undefined],
  ])('%s', async (_, headers, payload) => {
    const person = await newPerson(service.app)
    const mistakes: string[][] = []
    for (const { method, path, operation } of operationsOf(document)) {
      const response = await service.app.inject({
        method: method as 'GET',
        url: path.replace(/\{[^}]+\}/, randomUUID()),
        headers: { ...person.headers, ...(headers as object) },
        payload,
      })
      const { statusCode: status, rawPayload } = response
      const answer = { status, headers: response.headers, body: rawPayload }
      const found = mistakesOfAnswer(validator, operation, answer)
      if (status >= 500 || found.length > 0) mistakes.push([`${method} ${path}`, ...found])
    }
    expect(mistakes).toEqual([])
  })
})

test('every operation says what any request can be answered with', () => {
  const silent = operationsOf(document).filter(({ method, operation: { responses } }) => {
    const codes = Object.values(responses).flatMap(({ content }) =>
      Object.keys(content?.['application/json']?.examples ?? {}),
    )
    const all = ['MALFORMED_REQUEST', 'REQUEST_TIMEOUT', 'HEADERS_TOO_LARGE', 'OVERLOADED', 'INTERNAL']
    const ofBodies = ['MALFORMED_JSON', 'MALFORMED_BODY', 'BODY_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE']
    return ![...all, ...(method === 'get' ? [] : ofBodies)].every((code) => codes.includes(code))
  })
  expect(silent.map(({ method, path }) => `${method} ${path}`)).toEqual([])
})
