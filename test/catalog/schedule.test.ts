import { sql } from 'kysely'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { buildApp } from '#src/app.ts'
import { listReleases } from '#src/catalog/release-queries.ts'
import { deleteRelease, listPrunable } from '#src/catalog/removal-queries.ts'
import { findSchedule, publishNextDue, scheduleRelease } from '#src/catalog/schedule-queries.ts'
import { serverCluster } from '#src/data/client.ts'
import { inTransaction } from '#src/data/sql.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { publishDue } from '#src/ingest/publish.ts'
import { recordsOf } from '#test/accounts/records.ts'
import { captureLog } from '#test/setup/log.ts'
import { testOnServer } from '#test/setup/on-server.ts'
import { openService } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { askFertilizer, onePixelRelease, operatorOf, PIXEL_CENTRE } from '#test/setup/releases.ts'

const service = openService({
  template: 'empty',
  settings: { RELEASE_MAX_AGE_MS: '0', LOG_LEVEL: 'info' },
})
beforeEach(async () => {
  const { writer } = service.database
  for (const { code } of await listReleases(writer)) {
    await inTransaction(writer, (trx) => deleteRelease(trx, code, true))
  }
})

test('a release is published at its time, by the service that runs then', async () => {
  const before = await load(7, { publish: true })
  const code = await load(8)
  await schedule(code, 1500)
  await whileServing(async (log) => {
    expect(await ask()).toMatchObject({ release: before, values: [7] })
    await vi.waitFor(async () => expect(await ask()).toMatchObject({ release: code, values: [8] }), PATIENCE)
    const line = { level: 30, replaced: before, msg: 'a scheduled release is published' }
    await vi.waitFor(() => expect(linesOf(log, code)).toEqual([expect.objectContaining(line)]), PATIENCE)
  })
  expect((await recordsOfRelease(code)).at(-1)).toEqual({
    kind: 'release_published',
    release: code,
    replaced: before,
    allowed: ['extent'],
    scheduled_by: expect.any(String),
  })
  expect(await scheduleOf(code)).toBeUndefined()
})

test('of several whose time passed while no service ran, the last one answers, and each is told of once as late', async () => {
  const codes = [await load(7), await load(8), await load(9)]
  for (const [index, code] of codes.entries()) await scheduleForBefore(code, 60 - index)
  const late = expect.objectContaining({
    level: 40,
    scheduled_by: expect.any(String),
    msg: 'a scheduled release is published late: it has waited for a service and its database',
  })
  await whileServing((log) =>
    whileServing(async (other) => {
      await vi.waitFor(async () => expect(await ask()).toMatchObject({ values: [9] }), PATIENCE)
      const told = () => codes.map((code) => [...linesOf(log, code), ...linesOf(other, code)])
      await vi.waitFor(() => expect(told()).toEqual([[late], [late], [late]]), PATIENCE)
    }),
  )
  for (const code of codes) {
    const published = (await recordsOfRelease(code)).filter(({ kind }) => kind === 'release_published')
    expect(published).toHaveLength(1)
  }
})

test('what the checks refuse at its time stays unpublished, and the refusal is kept', async () => {
  const code = await load(8, { month: '2026-07' })
  await scheduleForBefore(code)
  await load(9, { month: '2026-08', publish: true })
  const refusal =
    'month: The month 2026-07 is older than 2026-08, which is published: only who asks for 2026-07 would get these values.'
  await whileServing(async (log) => {
    const refused = {
      level: 50,
      refusal,
      msg: 'a scheduled release is not published: the checks refuse it',
    }
    await vi.waitFor(() => expect(linesOf(log, code)).toEqual([expect.objectContaining(refused)]), PATIENCE)
  })
  expect(await ask()).toMatchObject({ values: [9] })
  expect(await scheduleOf(code)).toMatchObject({ refusedAt: expect.any(Date), refusal })
  expect((await recordsOfRelease(code)).at(-1)).toMatchObject({ kind: 'release_refused', refusal })
  // Nobody tries again.
  expect(await publishNextDue(service.database.writer, publishDue, [])).toBeUndefined()
})

/** Has the database do something else, in PL/pgSQL, when a release is published. */
async function whenPublished(code: string, statement: string): Promise<void> {
  const { pool } = service.database
  await pool.query(`
    create function when_published() returns trigger language plpgsql as $$
    begin
      if new.release_id = (select id from release where code = '${code}') then ${statement}; end if;
      return new;
    end $$`)
  await pool.query(`
    create trigger when_published before insert or update on publication
    for each row execute function when_published()`)
  onTestFinished(async () => void (await pool.query('drop function when_published cascade')))
}

const breakPublication = (code: string) => whenPublished(code, "raise 'broken'")

testOnServer('a release whose publication takes longer than a request may is published', async () => {
  const code = await load(8)
  await whenPublished(code, 'perform pg_sleep(2.5)')
  await scheduleForBefore(code)
  const { config } = service.testDatabase
  const url = config.DATABASE_URL as string
  const database = serverCluster(url, { ...config, STATEMENT_TIMEOUT_MS: 2000 }).connect()
  onTestFinished(() => database.close())
  await whileServing(async (log) => {
    const published = expect.objectContaining({ level: 40 })
    await vi.waitFor(() => expect(linesOf(log, code)).toEqual([published]), PATIENCE)
    expect(log.join('')).not.toContain(`${code} was not published; will retry`)
  }, database)
})

test('a release that cannot be published holds up no other, and is logged', async () => {
  const broken = await load(8, { month: '2026-07' })
  const code = await load(9, { month: '2026-08' })
  await breakPublication(broken)
  await scheduleForBefore(broken, 60)
  await scheduleForBefore(code, 30)
  await whileServing(async (log) => {
    await vi.waitFor(async () => expect(await ask()).toMatchObject({ release: code, values: [9] }), PATIENCE)
    const sentence = `the scheduled release ${broken} was not published; will retry`
    expect(log.map((line) => JSON.parse(line).msg)).toContain(sentence)
  })
  expect(await scheduleOf(broken)).toMatchObject({ refusedAt: null })
})

test('a release that could not be published does not take the place of one whose time came later', async () => {
  const broken = await load(8)
  const code = await load(9)
  await breakPublication(broken)
  await scheduleForBefore(broken, 60)
  await scheduleForBefore(code, 30)
  await whileServing(() =>
    vi.waitFor(async () => expect(await ask()).toMatchObject({ release: code, values: [9] }), PATIENCE),
  )
  const refusal = `It could not be published at its time, and ${code}, whose time came later, is published already.`
  expect(await scheduleOf(broken)).toMatchObject({ refusedAt: expect.any(Date), refusal })
  expect((await recordsOfRelease(broken)).at(-1)).toMatchObject({ kind: 'release_refused', refusal })
})

test('a release that is to be published is not published twice or pruned, and deleted only by force, which is recorded', async () => {
  const { writer } = service.database
  // Who publishes it by hand takes it off the schedule.
  const byHand = await load(7)
  await schedule(byHand, 60_000)
  await operatorOf(service.database).publish(byHand)
  expect(await scheduleOf(byHand)).toBeUndefined()

  const code = await load(8)
  const remove = (force: boolean) => inTransaction(writer, (trx) => deleteRelease(trx, code, force))
  await schedule(code, 60_000)
  expect(await listPrunable(writer, 0)).toEqual([])
  const publishAt = (await scheduleOf(code))?.publishAt.toISOString()
  await expect(remove(false)).rejects.toThrow(
    `${code} is to be published at ${publishAt}: take that back with \`agro releases unschedule ${code}\` first, or use --force.`,
  )
  expect(await scheduleOf(code)).toMatchObject({ refusedAt: null })
  await remove(true)
  const { rows } = await sql`select from scheduled_publication`.execute(writer)
  expect(rows).toEqual([])
  expect((await recordsOfRelease(code)).map(({ kind }) => kind)).toEqual([
    'release_scheduled',
    'release_unscheduled',
    'release_deleted',
  ])
})

const ask = () => askFertilizer(service.app, PIXEL_CENTRE)

async function load(rate: number, { publish = false, month = '2026-07' } = {}): Promise<string> {
  const source = onePixelRelease({ Urea: rate }, { forecastPeriod: `${month}-01` })
  return (await loadRelease(service.database, source, { publish })).code
}

/** Schedules a release for so many milliseconds from now; one pixel covers little of the country. */
function schedule(code: string, inMs: number) {
  const wanted = { publishAt: new Date(Date.now() + inMs), allowed: ['extent' as const], strict: false }
  return inTransaction(service.database.writer, (trx) => scheduleRelease(trx, code, wanted))
}

/** Has the time of a release come an hour ago, when no service ran. */
async function scheduleForBefore(code: string, minutes = 60): Promise<void> {
  await schedule(code, 60_000)
  await sql`
    update scheduled_publication set publish_at = now() - make_interval(mins => ${minutes}::integer)
    where release_id = (select id from release where code = ${code})`.execute(service.database.writer)
}

/** A process of the service that answers at a port, until work with it is done. */
async function whileServing(
  work: (log: string[]) => Promise<void>,
  database = service.database,
): Promise<void> {
  const app = await buildApp(service.testDatabase.config, database)
  const log = captureLog(app)
  await app.listen({ host: '127.0.0.1', port: 0 })
  await work(log).finally(() => app.close())
}

function linesOf(log: string[], code: string): object[] {
  return log.map((line) => JSON.parse(line)).filter(({ release }) => release === code)
}

async function recordsOfRelease(code: string) {
  const records = await recordsOf(service.database)
  return records
    .map(({ kind, detail }) => ({ kind, ...(detail as { release: string }) }))
    .filter(({ release }) => release === code)
}

async function scheduleOf(code: string) {
  const release = (await listReleases(service.database.writer)).find((row) => row.code === code)
  return findSchedule(service.database.writer, release?.id as number)
}
