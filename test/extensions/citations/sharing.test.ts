import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { findLimit } from '#src/accounts/user-queries.ts'
import { inTransaction } from '#src/data/sql.ts'
import { insertShare } from '#src/extensions/citations/queries.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { recorderOn, recordOf } from '#test/history/advisories.ts'
import { openService } from '#test/setup/open-service.ts'
import { newPerson, type Person } from '#test/setup/people.ts'
import { onePixelRelease, operatorOf, PIXEL_CENTRE } from '#test/setup/releases.ts'
import { SQUARE } from '#test/setup/square.ts'

const [OLD, NEW] = ['fertilizer-eth-wheat-2026-07-v1', 'fertilizer-eth-wheat-2026-07-v2']

const service = openService({ template: 'empty', settings: { RELEASE_MAX_AGE_MS: '0' } })
beforeAll(async () => {
  await loadRelease(service.database, onePixelRelease({ Urea: 120.5, DAP: 80.25 }))
})

type Options = { by?: Person; payload?: object; accept?: string }

const ask = (request: string, { accept, ...sent }: Options = {}) =>
  service.ask(request, { ...sent, headers: { host: 'agro.example', ...(accept && { accept }) } })

describe('what is shared', () => {
  test('has an address that its owner gets as often as it is asked for, and others never', async () => {
    const { person } = service
    const { id, share, headers } = await shared(person)
    expect(share).toEqual({
      id: expect.stringMatching(/^[\w-]{24}$/),
      url: `http://agro.example/cite/${share.id}`,
      shared_at: expect.stringMatching(/Z$/),
    })
    expect(headers.link).toBe(`<${share.url}>; rel="cite-as"`)
    expect((await ask(`POST /history/${id}/share`, { by: person })).body).toEqual(share)
    expect((await ask(`GET /history/${id}/share`, { by: person })).body).toEqual(share)
    const other = await newPerson(service.app)
    for (const method of ['GET', 'POST', 'DELETE'] as const) {
      expect((await ask(`${method} /history/${id}/share`, { by: other })).status).toBe(404)
      expect((await ask(`${method} /history/x/share`, { by: other })).status).toBe(404)
    }
  })

  test('is shown to everybody, without who has shared it', async () => {
    const { share, id } = await shared(service.person)
    const { status, body, text, headers } = await ask(`GET /cite/${share.id}`)
    expect(status).toBe(200)
    expect(headers).toMatchObject({
      link: `<${share.url}>; rel="cite-as"`,
      'x-robots-tag': 'noindex',
      'cache-control': 'private, no-cache',
    })
    expect(body).toMatchObject({
      ...share,
      kind: 'point',
      product: 'fertilizer',
      releases: [
        { release: OLD, state: 'published', source: 'A test', licence: 'CC0-1.0', checksum: '120.5,80.25' },
      ],
      request: { ...PIXEL_CENTRE, name: "Abebe's field" },
      answer: { location: { name: "Abebe's field" }, release: OLD },
      verify: { method: 'POST', url: 'http://agro.example/advisory/fertilizer/point', token: false },
    })
    expect(text).not.toContain(service.person.email)
    expect(text).not.toContain(id)
    const tag = { host: 'agro.example', 'if-none-match': String(headers.etag) }
    expect((await service.get(`/cite/${share.id}`, { headers: tag })).status).toBe(304)
  })

  test('is a page for browsers, which loads and runs nothing', async () => {
    const named = { ...PIXEL_CENTRE, name: '<script>alert(1)</script>' }
    const { share } = await shared(service.person, '/advisory/fertilizer/point', named)
    const { text, headers } = await ask(`GET /cite/${share.id}`, { accept: 'text/html' })
    expect(headers['content-type']).toBe('text/html; charset=utf-8')
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-/)
    expect(headers['x-robots-tag']).toBe('noindex')
    expect(text).not.toContain('<script')
    expect(text).toContain('120.5')
    expect(text).toContain(OLD)
    expect(text).toContain('sha256sum')
  })

  test('is compared by a command in which no address is more than a word of a shell', async () => {
    const { share } = await shared(service.person)
    const headers = { host: "x';echo$(id)", accept: 'text/html' }
    const { text } = await service.get(`/cite/${share.id}`, { headers })
    const [, command = ''] = /<pre>(curl .*?) \| sha256sum<\/pre>/s.exec(text) ?? []
    const written = command.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(code))
    const seen = execFileSync('sh', ['-c', `curl() { printf %s "$2"; }\n${written}`], { encoding: 'utf8' })
    expect(seen).toBe("http://x';echo$(id)/advisory/fertilizer/point")
  })

  test.each([
    ['a point with its provenance', '/advisory/fertilizer/point', { ...PIXEL_CENTRE, provenance: true }],
    ['all products, of which most have none', '/advisory/point', PIXEL_CENTRE],
    [
      'all products, with a budget for one of them',
      '/advisory/point',
      { ...PIXEL_CENTRE, prices: { currency: 'ETB', per_kg: { Urea: 45 } }, budget: 100 },
    ],
    [
      'a polygon with quantities',
      '/advisory/fertilizer',
      { geometry: SQUARE, quantiles: [0.5], histogram: 2, area: { unit: 'acre' } },
    ],
  ])(
    'can be verified: %s gives the same bytes, also when another release has taken its place',
    async (_, url, request) => {
      const { share } = await shared(service.person, url, request)
      await loadRelease(service.database, onePixelRelease({ Urea: 1, DAP: 2 }))
      const { verify, answer, releases } = (await ask(`GET /cite/${share.id}`)).body
      expect(releases).toMatchObject([{ release: OLD, state: 'replaced' }])
      const again = await service.ask(`${verify.method} ${new URL(verify.url).pathname}`, {
        by: verify.token ? service.person : undefined,
        headers: verify.headers,
        payload: verify.body,
      })
      expect(again.status, again.text).toBe(200)
      // The reasons of products without values are not among it.
      if (url !== '/advisory/point') expect(again.text).toBe(JSON.stringify(answer))
      else expect(again.body.fertilizer).toEqual(answer.fertilizer)
      expect(createHash('sha256').update(again.text).digest('hex')).toBe(verify.sha256)
      await operatorOf(service.database).publish(OLD as string)
    },
  )

  test('says so where a release is gone, and keeps the answer', async () => {
    await operatorOf(service.database).publish(NEW as string)
    const { share } = await shared(service.person)
    await operatorOf(service.database).publish(OLD as string)
    await operatorOf(service.database).remove(NEW as string)
    const { body } = await ask(`GET /cite/${share.id}`)
    expect(body).toMatchObject({ releases: [{ release: NEW, state: 'deleted' }], answer: { release: NEW } })
    const again = await ask('POST /advisory/fertilizer/point', { payload: body.verify.body })
    expect(again.body.code).toBe('RELEASE_GONE')
  })
})

test('an answer with nutrients has no sum: the compositions that they come from may change', async () => {
  const request = { ...PIXEL_CENTRE, nutrients: true }
  const { share } = await shared(service.person, '/advisory/fertilizer/point', request)
  expect((await ask(`GET /cite/${share.id}`)).body.verify).toBeNull()
})

describe('an answer of a version before', () => {
  const BOTH = [OLD, 'isfm-eth-wheat-2026-07-v1'] as string[]
  beforeAll(async () => {
    await loadRelease(service.database, onePixelRelease({ Compost: 5 }, { product: 'isfm' }))
  })

  /** Keeps and shares an answer that was given before, to what may be refused now. */
  async function citedFromBefore(product: string, releases: string[], more: object) {
    const { person: by } = service
    const request = { ...PIXEL_CENTRE, ...more }
    const answer = { location: { ...PIXEL_CENTRE, name: 'Point', type: 'point' } }
    const keep = recorderOn(service.database.writer)
    const id = await keep(recordOf(by, { product, releases, request, answer }))
    const share = await ask(`POST /history/${id}/share`, { by })
    expect(share.status, share.text).toBe(200)
    return (await ask(`GET /cite/${share.body.id}`)).body
  }

  const prices = (per_kg: object) => ({ prices: { currency: 'ETB', per_kg }, budget: 100 })

  test.each([
    ['a budget for two products', 'all', BOTH, prices({ Urea: 45, Compost: 4 }), false],
    ['the same as a text', 'all', BOTH, { prices: 'ETB Urea:45,Compost:4', budget: 100 }, false],
    ['bags of less than a gram', 'fertilizer', BOTH.slice(0, 1), { bags: { Urea: 0.0005 } }, false],
    ['a budget for one product', 'all', BOTH, prices({ Urea: 45 }), true],
    ['one for the product that answered', 'all', BOTH.slice(0, 1), prices({ Urea: 45, Compost: 4 }), true],
    ['bags of a gram', 'fertilizer', BOTH.slice(0, 1), { bags: { Urea: 0.001 } }, true],
  ])('has a sum unless it is refused now: %s', async (_, product, releases, more, isTaken) => {
    const cited = await citedFromBefore(product, releases, more)
    const body = { ...PIXEL_CENTRE, ...more, release: releases.join(', ') }
    expect([cited.request, cited.verify?.body]).toMatchObject([more, isTaken ? body : undefined])
  })
})

describe('it ends', () => {
  const isShown = async (token: string) => (await ask(`GET /cite/${token}`)).status

  test('where its owner takes it back, and the next address is another', async () => {
    const { person: by } = service
    const { id, share } = await shared(by)
    const request = `DELETE /history/${id}/share`
    expect((await ask(request, { by })).status).toBe(204)
    for (const gone of [`GET /cite/${share.id}`, request, `GET /history/${id}/share`])
      expect([gone, (await ask(gone, { by })).status]).toEqual([gone, 404])
    expect((await ask(`POST /history/${id}/share`, { by })).body.id).not.toBe(share.id)
  })

  test('with the item, and with the account', async () => {
    const by = await newPerson(service.app)
    const [first, second] = [await shared(by), await shared(by)]
    await ask(`DELETE /history/${first.id}`, { by })
    expect([await isShown(first.share.id), await isShown(second.share.id)]).toEqual([404, 200])
    const { rows } = await service.database.pool.query(
      'select history_id from history_share where user_id = $1',
      [by.user.id],
    )
    expect(rows).toEqual([{ history_id: second.id }])
    expect((await ask('DELETE /user/profile', { by })).status).toBe(200)
    expect(await isShown(second.share.id)).toBe(404)
  })
})

test('what is no address shows nothing', async () => {
  for (const token of ['A'.repeat(24), `${'A'.repeat(23)}%00`, '%27%20or%201=1--']) {
    const { status, body } = await ask(`GET /cite/${token}`)
    expect([token, status, body.code]).toEqual([token, 404, 'NOT_FOUND'])
  }
})

test('an account has so many shares, and what is shared stays so', async () => {
  const by = await newPerson(service.app)
  const { id, share } = await shared(by)
  const userId = by.user.id
  const limit = findLimit('TOO_MANY_SHARES', service.app.config)
  await service.database.pool.query(
    `insert into history_share (history_id, user_id, token)
     select gen_random_uuid(), $1, lpad(number::text, 24, '0') from generate_series(1, $2) as number`,
    [userId, limit.most - 1],
  )
  expect((await ask(`POST /history/${id}/share`, { by })).body).toEqual(share)
  const more = await ask('POST /advisory/fertilizer/point', { by, payload: PIXEL_CENTRE })
  const refused = await ask(`POST /history/${more.body.history_id}/share`, { by })
  expect(refused).toMatchObject({ status: 409, body: { code: 'TOO_MANY_SHARES' } })
  expect(refused.body.details).toEqual([
    { field: 'shares', message: 'an account may have 1000 shares', code: 'LIMIT_REACHED' },
  ])
  const nothing = await ask(`POST /history/0199b0a4-5f0e-7c5b-9d55-3d0d6b1f2a77/share`, { by })
  expect(nothing.status).toBe(404)
  const repeat = inTransaction(service.database.writer, (trx) => insertShare(trx, userId, id, 'B'.repeat(24)))
  expect(await repeat).toMatchObject({ token: share.id })
})

/** Asks, and shares what was answered. */
async function shared(
  by: Person,
  url = '/advisory/fertilizer/point',
  request: object = { ...PIXEL_CENTRE, name: "Abebe's field" },
) {
  const { body } = await ask(`POST ${url}`, { by, payload: request })
  const share = await ask(`POST /history/${body.history_id}/share`, { by })
  expect(share.status, share.text).toBe(200)
  return { id: body.history_id as string, share: share.body, headers: share.headers }
}
