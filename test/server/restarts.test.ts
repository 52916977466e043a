// Runs on either database: killed processes leave the folder of the embedded one in test/data/embedded-folder.test.ts.
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { createTestDatabase, type TestDatabase, withDatabase } from '#test/setup/database.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { addressOf, startService } from '#test/setup/service-process.ts'

async function newDatabase(template: 'empty' | 'demo'): Promise<TestDatabase> {
  const testDatabase = await createTestDatabase(template, { DEMO_DATA: 'true' })
  onTestFinished(() => testDatabase.drop())
  return testDatabase
}

const readinessOf = async (address: string) => (await fetch(`${address}/health/ready`)).json()
const isWhole = (address: string) =>
  expect.poll(() => readinessOf(address), PATIENCE).toEqual({ status: 'ok' })

const releasesOf = async (address: string) => {
  const { releases } = (await (await fetch(`${address}/catalog`)).json()) as {
    releases: { release: string }[]
  }
  return releases.map(({ release }) => release)
}

/** What the demo has put into a database. */
const contentOf = (testDatabase: TestDatabase) =>
  withDatabase(testDatabase, async ({ writer }) => {
    const releases = await sql<{ code: string }>`
      select code, checksum, status, count(*) as tiles, sum(hashtext(rast::text)) as pixels
      from release
      join publication on publication.release_id = release.id
      join coverage on coverage.release_id = release.id
      join raster_tile on raster_tile.coverage_id = coverage.id
      group by release.id order by code`.execute(writer)
    const areas = await sql`
      select country_code, level, count(*) as areas, sum(hashtext(code || name || geom::text)) as shapes, count(parent_id) as parents
      from admin_area group by 1, 2 order by 1, 2`.execute(writer)
    return { releases: releases.rows, areas: areas.rows }
  })

/** Has every release after the first one fail for as long as there is no account, which a client can see to. */
const HOLD = `
  create function hold_demo() returns trigger language plpgsql as $$ begin
    if exists (select from release) and not exists (select from app_user) then
      raise exception 'held by a test';
    end if;
    return new;
  end $$;
  create trigger hold_demo before insert on release for each row execute function hold_demo()`

test('a service listens when the first release of the demo is there, and readiness says what is missing; it goes on after a failure and a restart, and in the end all is as if it had been loaded before', async () => {
  const testDatabase = await newDatabase('empty')
  await withDatabase(testDatabase, ({ writer }) => sql.raw(HOLD).execute(writer))
  const answers: unknown[] = []
  for (const start of ['first', 'second']) {
    const service = startService(testDatabase.environment)
    const address = await addressOf(service)
    await service.prints(/Synthetic demo data are published/)
    expect(/release 1 of 10/.test(service.stdout())).toBe(start === 'first')
    expect(await readinessOf(address)).toEqual({ status: 'ok', demo: { loaded: 1, of: 10 } })
    expect(await releasesOf(address)).toEqual(['synthetic-fertilizer-eth-wheat-2026-07-v1'])
    const ask = async () => {
      const url = `${address}/advisory/fertilizer/point?lat=9.5&lng=38.5&crop=wheat&country_code=eth`
      return (await fetch(url, { method: 'POST' })).json()
    }
    answers.push(await ask())
    await expect
      .poll(service.stderr, PATIENCE)
      .toMatch(/demo data could not be loaded, which is tried again: held by a test/)
    if (start === 'second') {
      const body = JSON.stringify({
        email: 'somebody@example.org',
        name: 'Somebody',
        password: 'a long one for this test',
      })
      const headers = { 'content-type': 'application/json' }
      expect((await fetch(`${address}/auth/register`, { method: 'POST', headers, body })).ok).toBe(true)
      await isWhole(address)
      expect(service.stdout()).toMatch(/release 10 of 10/)
      await expect.poll(() => releasesOf(address), PATIENCE).toHaveLength(10)
      answers.push(await ask())
    }
    service.signal('SIGTERM')
    expect(await service.ended).toBe(0)
  }
  expect(answers[1]).toEqual(answers[0])
  expect(answers[2]).toEqual(answers[0])
  expect(await contentOf(testDatabase)).toEqual(await contentOf(await newDatabase('demo')))
})

test('a service completes the demo that a killed one began', async () => {
  const testDatabase = await newDatabase('empty')
  const killed = startService(testDatabase.environment)
  await killed.prints(/seeding synthetic demo data: release 2 of 10/)
  killed.signal('SIGKILL')
  expect(await killed.ended).toBe('SIGKILL')

  const completing = startService(testDatabase.environment)
  const address = await addressOf(completing)
  await isWhole(address)
  completing.signal('SIGTERM')
  expect(await completing.ended).toBe(0)
  expect(completing.stdout()).not.toMatch(/release [12] of 10/)

  const { releases, areas } = await contentOf(testDatabase)
  const codes = releases.map(({ code }) => code)
  expect(codes).toHaveLength(10)
  expect(new Set(codes.map((code) => code.replace(/-v\d$/, ''))).size).toBe(10)
  expect(areas).toEqual((await contentOf(await newDatabase('demo'))).areas)
})
