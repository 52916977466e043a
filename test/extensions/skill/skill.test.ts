import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Scorecard } from '#src/extensions/skill/schemas.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { createUuidMaker } from '#src/lib/uuid.ts'
import { runAgro } from '#test/setup/cli.ts'
import { newFolder } from '#test/setup/folders.ts'
import { createTestAppWithPerson, makeAdmin, newPerson, type TestAppWithPerson } from '#test/setup/people.ts'
import { operatorOf, realYield } from '#test/setup/releases.ts'
import { rectangle } from '#test/setup/square.ts'
import { CODE, EARLIER, expectedOf, FEW, PLACES, SEASONS, SYNTHETIC, seen } from './scored.ts'

// Runs on a server alone: commands open the database beside the service.

let service: TestAppWithPerson
beforeAll(async () => {
  service = await createTestAppWithPerson({ ownDatabase: true, settings: { RELEASE_MAX_AGE_MS: '0' } })
  await makeAdmin(service)
  await loadRelease(service.database, realYield({ forecastPeriod: '2025-07-01' }))
  await loadRelease(service.database, realYield())
  await keepSeen()
})
afterAll(async () => {
  await service.close()
})

/** Stores these answers as the service stores an answer with odds, with feedback of eight accounts. */
async function keepSeen(): Promise<void> {
  const { writer } = service.database
  const payload = { ...PLACES['ETH-09'], provenance: true }
  const { body } = await service.post('/advisory/yield/point', { by: service.person, payload })
  const { history_id: stored, provenance: _, ...answer } = body
  const people = await Promise.all(Array.from({ length: 8 }, () => newPerson(service.app)))
  const { rows: users } = await sql<{ id: string }>`
    select id from app_user where email = any(${people.map(({ email }) => email)}::text[])`.execute(writer)
  await sql`update app_user set created_at = now() - interval '3 months'`.execute(writer)
  const newUuid = createUuidMaker()
  const rows = seen.map(({ area, observed, entries }, index) => ({
    id: newUuid(),
    user_id: users[index % users.length]?.id,
    answer: JSON.stringify({
      ...answer,
      location: { ...answer.location, ...PLACES[area] },
      yield_data: entries,
    }),
    observed: { yield_kg_ha: observed },
  }))
  await sql`
    insert into history_item (id, user_id, template_id, bytes, subject_id, crop_code, request, answer)
    select one.id, one.user_id, template_id, bytes, subject_id, crop_code, request, one.answer
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as one (id uuid, user_id uuid, answer text)
    cross join history_item where history_item.id = ${stored}`.execute(writer)
  await sql`
    insert into advisory_feedback (history_id, user_id, rating, observed, created_at, updated_at)
    select id, user_id, 4, observed, now() - interval '3 months', now() - interval '3 months'
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as one (id uuid, user_id uuid, observed jsonb)`.execute(
    writer,
  )
}

test('the scores of 10,000 seasons in feedback are those that numpy had found of them, to a billionth', async () => {
  const { sharp } = JSON.parse(readFileSync(join(import.meta.dirname, 'odds.json'), 'utf8'))
  const { odds } = await cardOf('?level=0')
  if (!odds) throw new Error('there are no scores')
  const near = (value: number) => expect.closeTo(value, 9)
  const { brier, rps, rpss, reliability } = sharp
  expect(odds).toMatchObject({
    ...{ count: SEASONS, told: 0, brier: near(brier), rps: near(rps), rpss: near(rpss) },
  })
  expect(odds.reliability.map(({ scenario }) => scenario)).toEqual(['Below Normal', 'Normal', 'Above Normal'])
  for (const [index, { term, bins }] of odds.reliability.entries()) {
    const theirs = reliability[index]
    expect(term).toBeCloseTo(theirs.term, 9)
    expect(bins.map(({ count }) => count)).toEqual(theirs.counts)
    for (const [at, bin] of bins.entries()) {
      if (bin.forecast !== null) expect(bin.forecast).toBeCloseTo(theirs.forecast[at], 9)
      if (bin.observed !== null) expect(bin.observed).toBeCloseTo(theirs.observed[at], 9)
    }
    // Every account has odds in each bin that is not nearly empty.
    for (const bin of bins) if (bin.count >= 100) expect(bin.observed).not.toBeNull()
  }
})

test('an area has the figures of the most likely scenario; the command says the same, for people as well', async () => {
  const card = await cardOf('?level=1')
  expect(card.skill.map(({ code }) => code)).toEqual(['ETH-01', 'ETH-09'])
  for (const [index, area] of ['ETH-01', 'ETH-09'].entries()) {
    const { within, ...expected } = expectedOf(seen.filter((one) => one.area === area))
    expect(card.skill[index]).toMatchObject({ n: expected.n, within: { count: expected.n } })
    expect(card.skill[index]?.bias).toBeCloseTo(expected.bias, 8)
    expect(card.skill[index]?.mae).toBeCloseTo(expected.mae, 8)
    expect(card.skill[index]?.within?.share).toBeCloseTo(within, 12)
  }
  expect(card.kept).toEqual([])
  const { stdout } = await agro('scorecard', CODE, '--level', '1', '--json')
  expect(JSON.parse(stdout)).toEqual({ ...card, row_errors: [] })
  const text = (await agro('scorecard', CODE, '--level', '1')).stdout
  expect(text).toContain(`Odds of ${SEASONS}: Brier score ${card.odds?.brier.toFixed(3)}`)
})

test('nothing is said before it is stored, and without the option answers are as before', async () => {
  const plain = await ask('ETH-09', '')
  const asked = await ask('ETH-09')
  expect(asked.body).toEqual({ ...plain.body, skill: null })
  expect(plain.text).not.toContain('skill')
  expect((await ask('ETH-09', 'skill=false')).text).toBe(plain.text)
})

const skillAt = async (area: keyof typeof PLACES) => (await ask(area)).body.skill

describe('once it is kept', () => {
  beforeAll(async () => {
    const { code, stderr } = await agro('scorecard', CODE, '--keep')
    expect([code, stderr]).toEqual([0, ''])
  })

  test('the scorecard has the sums of the country and of its areas, and the audit record says who kept them', async () => {
    const { kept, skill } = await cardOf('?level=1')
    expect(kept.map(({ level, code, n, observers }) => [level, code, n, observers])).toEqual([
      [0, 'ETH', SEASONS, 8],
      [1, 'ETH-01', FEW, 8],
      [1, 'ETH-09', SEASONS - FEW, 8],
    ])
    // Noise of more than 30 times an observation has a chance below one in a billion.
    const [exact, noisy] = [skill[1], kept[2]]
    for (const name of ['bias', 'mae'] as const) {
      expect(Math.abs(Number(noisy?.[name]) - Number(exact?.[name]))).toBeLessThan((30 * 3000) / SEASONS)
      expect(noisy?.[name]).not.toBe(exact?.[name])
    }
    expect(Math.abs(Number(noisy?.rpss) - Number(exact?.rpss))).toBeLessThan((30 * 5) / SEASONS)
    const { stdout } = await agro('audit', '--kind', 'skill_kept', '--json')
    expect(stdout).toContain(CODE)
  })

  test('an answer has that of its area, and of the country where the area has fewer than 30', async () => {
    const { bias, mae, within, rpss } = (await cardOf()).kept[2] as Scorecard['kept'][number]
    const digits = (value: number | null = null) => Number(value?.toPrecision(2))
    expect(await skillAt('ETH-09')).toEqual({
      n: digits(SEASONS - FEW),
      bias: digits(bias),
      mae: digits(mae),
      within: digits(within?.share),
      rpss: digits(rpss),
      of: 'ETH-09, wheat, 2026',
    })
    for (const place of ['ETH-01', 'ETH-03'] as const) {
      expect(await skillAt(place)).toMatchObject({ n: SEASONS, of: 'ETH, wheat, 2026' })
    }
  })

  test('all ways to a place have it, each product for itself; tables refuse it, and texts leave it out', async () => {
    const skill = await skillAt('ETH-09')
    const { lat, lng } = PLACES['ETH-09']
    const payload = { lat, lng, skill: true }
    const post = (path: string, body: object, query = '') =>
      service.post(`/advisory/${path}${query}`, { by: service.person, payload: body })
    const posted = await post('yield/point', payload)
    expect(posted.body.skill).toEqual(skill)
    expect(
      (await service.get(`/history/${posted.body.history_id}`, { by: service.person })).body,
    ).toMatchObject({
      request: { skill: true },
      answer: { skill },
    })
    const all = await post('point', payload)
    expect(all.body.yield.skill).toEqual(skill)
    expect(all.body.fertilizer.skill).toBeNull()
    expect(all.body).not.toHaveProperty('skill')
    const anonymous = await service.get(`/advisory/point?lat=${lat}&lng=${lng}&skill=true`)
    expect(anonymous.body).toEqual({ ...all.body, history_id: undefined })
    const withQuantities = await post('point', { ...payload, area: { value: 1 } })
    expect(withQuantities.body.yield).toMatchObject({ skill, quantities: expect.anything() })
    const item = await service.get(`/history/${all.body.history_id}`, { by: service.person })
    expect(item.body.answer.yield.skill).toEqual(skill)

    const geometry = rectangle(38.49, 9.49, 38.51, 9.51)
    expect((await post('yield', { geometry, skill: true })).body.skill).toEqual(skill)
    expect((await post('yield', { geometry }, '?skill=true')).body.skill).toEqual(skill)
    expect((await post('yield', { geometry })).body).not.toHaveProperty('skill')
    expect((await post('forage', { geometry, skill: true })).body.skill).toBeNull()
    expect((await post('yield/points', { points: [{ lat, lng }], skill: true })).body.ignored).toEqual([
      expect.objectContaining({ name: 'skill' }),
    ])

    const table = await ask('ETH-09', 'skill=true&format=csv')
    expect([table.status, table.body.details[0].field]).toEqual([400, 'skill'])
    const headers = { accept: 'text/plain' }
    const [text, plain] = await Promise.all(
      ['&skill=true', ''].map((query) =>
        service.get(`/advisory/yield/point?lat=${lat}&lng=${lng}${query}`, { headers }),
      ),
    )
    expect([text?.status, text?.text]).toEqual([200, plain?.text])
    const once = (sent?: Record<string, string>) =>
      service.post('/advisory/yield/point', {
        by: service.person,
        payload,
        headers: { 'idempotency-key': 'a text and its JSON', ...sent },
      })
    expect((await once(headers)).text).toBe(plain?.text)
    // The repetition may ask for JSON, which has room for it.
    expect((await once()).body.skill).toEqual(skill)
    // What is known of the skill changes: the address is none to cite.
    const cited = await ask('ETH-09', `release=${CODE}`)
    expect(cited.headers.link).toContain('cite-as')
    expect((await ask('ETH-09', `release=${CODE}&skill=true`)).headers.link ?? '').not.toContain('cite-as')
  })

  test('demonstration data have none, and none is kept of them', async () => {
    expect((await ask('ETH-09', `release=${SYNTHETIC}&skill=true`)).body.skill).toBeNull()
    const { code, stderr } = await agro('scorecard', SYNTHETIC, '--keep')
    expect([code, stderr]).toEqual([1, `${SYNTHETIC} is demonstration data: no skill is kept of it.\n`])
  })

  test('releases of several years add up; a later call adds what is new, and all goes with the release', async () => {
    const file = join(await newFolder(), 'trials.csv')
    const { lat, lng } = PLACES['ETH-03']
    const keep = async (count: number) => {
      const rows = Array.from({ length: count }, (_, index) => `${lat},${lng},${2000 + index}`)
      await writeFile(file, ['lat,lng,yield_kg_ha', ...rows].join('\n'))
      return agro('scorecard', EARLIER, '--keep', '--observations', file)
    }
    expect(await keep(4)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        `Nothing of ${EARLIER} is kept: its new observations are of fewer than 5`,
      ),
    })
    expect((await keep(29)).code).toBe(0)
    const country = { n: SEASONS, of: 'ETH, wheat, 2025 to 2026' }
    expect(await skillAt('ETH-03')).toMatchObject(country)
    const revealing = await keep(30)
    expect(revealing.code).toBe(1)
    expect((await keep(34)).code).toBe(0)
    // These had neither ranges nor odds.
    const figures = { bias: expect.any(Number), mae: expect.any(Number) }
    expect(await skillAt('ETH-03')).toEqual({ n: 34, ...figures, of: 'ETH-03, wheat, 2025' })
    await operatorOf(service.database).remove(EARLIER, true)
    expect(await skillAt('ETH-03')).toMatchObject({ n: SEASONS, of: 'ETH, wheat, 2026' })
  })
})

const ask = async (area: keyof typeof PLACES, query = 'skill=true') => {
  const { lat, lng } = PLACES[area]
  return service.get(`/advisory/yield/point?lat=${lat}&lng=${lng}&${query}`)
}

const cardOf = async (query = ''): Promise<Scorecard> =>
  (await service.get(`/releases/${CODE}/scorecard${query}`, { by: service.person })).body

const agro = (...parameters: string[]) => runAgro(service.testDatabase, ...parameters)
