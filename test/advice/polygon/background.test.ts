// Runs on both databases: on the one connection of the embedded database the job and requests take turns. What the job
// chooses to compute is the same on both.

import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { buildApp } from '#src/app.ts'
import { listReleases } from '#src/catalog/release-queries.ts'
import { deleteRelease } from '#src/catalog/removal-queries.ts'
import { scheduleRelease } from '#src/catalog/schedule-queries.ts'
import type { Database } from '#src/data/database.ts'
import { inTransaction } from '#src/data/sql.ts'
import type { App } from '#src/http/app.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { boundaryFile, feature, loadFile, rectangle } from '#test/setup/boundaries.ts'
import { call } from '#test/setup/calls.ts'
import { captureLog } from '#test/setup/log.ts'
import { testOnServer } from '#test/setup/on-server.ts'
import { openService } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { askFertilizer, onePixelRelease, operatorOf, PIXEL_CENTRE } from '#test/setup/releases.ts'

/** More areas than are computed in one piece. */
const CODES = Array.from({ length: 12 }, (_, index) => `ET-${String(index).padStart(2, '0')}`)

const service = openService({ template: 'empty', settings: { RELEASE_MAX_AGE_MS: '0', LOG_LEVEL: 'info' } })

/** A level of Ethiopia: strips of the pixel of all releases, from west to east. */
async function loadStrips(codes = CODES, height = 0.9): Promise<void> {
  const width = 0.9 / codes.length
  const strips = codes.map((code, index) => {
    const west = 38 + index * width
    return feature({ code, name: `Strip ${code}` }, rectangle(west, 9, west + width, 9 + height))
  })
  await loadFile(maintenance, await boundaryFile(strips), 'eth', 1)
}

// The embedded database has one connection.
let maintenance: Database
beforeAll(async () => {
  maintenance = service.cluster.kind === 'server' ? service.cluster.connectForMaintenance() : service.database
  await loadStrips()
})
afterAll(() => (maintenance === service.database ? undefined : maintenance.close()))

beforeEach(async () => {
  const { writer } = service.database
  for (const { code } of await listReleases(writer)) {
    await inTransaction(writer, (trx) => deleteRelease(trx, code, true))
  }
  await sql`delete from area_claim`.execute(writer)
})

test('a release has the results of all areas before it is published, and its answers are those of a process that computes', async () => {
  const before = await load(7, true)
  const code = await load(8)
  const { app } = await startProcess()
  const failed = await askWithoutTiles(app)
  expect(failed.filter((answer) => answer.startsWith('200'))).toEqual([])
  await compute(app, before)
  expect(await listComputed(code)).toEqual(CODES)
  await operatorOf(service.database).publish(code)
  const answers = await askWithoutTiles(app)
  expect(answers.every((answer) => answer.startsWith(`200 ${code} {`))).toBe(true)
  expect(answers).toEqual(await askAnew())
})

testOnServer('a scheduled release is computed beside a newer one; one between them is not', async () => {
  await load(7, true)
  const overtaken = await load(8)
  const scheduled = await load(9)
  const newest = await load(10)
  const { writer } = service.database
  const wanted = {
    publishAt: new Date(Date.now() + 3_600_000),
    allowed: ['extent' as const],
    strict: false,
  }
  await inTransaction(writer, (trx) => scheduleRelease(trx, scheduled, wanted))
  const { app } = await startProcess()
  await compute(app, scheduled)
  await compute(app, newest)
  await sql`update scheduled_publication set publish_at = now()`.execute(writer)
  app.jobs.wake('publish-scheduled')
  await vi.waitFor(
    async () => expect(await askFertilizer(app, PIXEL_CENTRE)).toMatchObject({ release: scheduled }),
    PATIENCE,
  )
  const answers = await askWithoutTiles(app)
  expect(answers.every((answer) => answer.startsWith(`200 ${scheduled} {`))).toBe(true)
  expect(await listComputed(overtaken)).toEqual([])
})

test('a release that is deleted in the midst of a computation leaves nothing, and the next look goes on', async () => {
  const published = await load(7, true)
  const deleted = await load(8)
  const { app, log } = await startProcess()
  interrupt(app, () => operatorOf(service.database).remove(deleted))
  wake(app)
  await vi.waitFor(async () => {
    const left = (await listReleases(service.database.writer)).map(({ code }) => code)
    expect([left, await countClaims()]).toEqual([[published], 0])
  }, PATIENCE)
  await compute(app, published)
  const { rows } = await sql`
    select from area_result
    join release on release.id = release_id
    where code = ${deleted}`.execute(service.database.writer)
  expect([rows, warningsIn(log)]).toEqual([[], []])
})

test('boundaries that are replaced in the midst of a computation are computed, and those before are not', async () => {
  const code = await load(7, true)
  const { app, log } = await startProcess()
  const present = CODES.slice(0, 11)
  interrupt(app, () => loadStrips(present, 0.8))
  onTestFinished(() => loadStrips())
  wake(app)
  await vi.waitFor(async () => {
    const { rows } = await sql`select from admin_area`.execute(service.database.writer)
    expect([rows.length, await countClaims()]).toEqual([present.length, 0])
  }, PATIENCE)
  await compute(app, code, present)
  expect(warningsIn(log)).toEqual([])
})

/** Holds the first computation of areas. */
async function hold(app: App): Promise<() => void> {
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const begun = new Promise<void>((resolve) => {
    interrupt(app, () => {
      resolve()
      return held
    })
  })
  wake(app)
  await begun
  return release
}

testOnServer('two processes compute each result once, and answer meanwhile', async () => {
  const code = await load(7, true)
  const { writer } = service.database
  await sql`create table stored (release_id bigint, admin_area_id bigint)`.execute(writer)
  await sql`
    create function note_stored() returns trigger language plpgsql as $$
    begin
      insert into stored values (new.release_id, new.admin_area_id);
      return new;
    end
    $$`.execute(writer)
  await sql`
    create trigger noted before insert or update on area_result
    for each row execute function note_stored()`.execute(writer)
  onTestFinished(async () => {
    await sql`drop function note_stored cascade`.execute(writer)
    await sql`drop table stored`.execute(writer)
  })
  const [{ app: one }, { app: other }] = [await startProcess(), await startProcess()]
  const release = await hold(one)
  const claimed = await countClaims()
  wake(other)
  await vi.waitFor(
    async () => expect(await listComputed(code)).toHaveLength(CODES.length - claimed),
    PATIENCE,
  )
  expect(await askFertilizer(one, PIXEL_CENTRE)).toMatchObject({ release: code, values: [7] })
  release()
  await vi.waitFor(async () => {
    const { rows } = await sql`select distinct release_id, admin_area_id from stored`.execute(writer)
    const all = await sql`table stored`.execute(writer)
    expect([rows.length, all.rows.length, await countClaims()]).toEqual([CODES.length, CODES.length, 0])
  }, PATIENCE)
})

test('no area is begun while requests for areas are computed', async () => {
  const code = await load(7, true)
  const { app } = await startProcess()
  let goOn = () => {}
  const held = new Promise<void>((resolve) => {
    goOn = resolve
  })
  const { next } = app.slices
  const spy = vi.spyOn(app.slices, 'next').mockImplementation(async (clientKey, signal) => {
    await held
    return next(clientKey, signal)
  })
  onTestFinished(() => spy.mockRestore())
  const answers = askForAreas(app)
  await vi.waitFor(() => expect(spy).toHaveBeenCalled(), PATIENCE)
  // Its piece ends before this returns.
  wake(app)
  expect([await countClaims(), await listComputed(code)]).toEqual([0, []])
  goOn()
  expect((await answers).every((answer) => answer.startsWith(`200 ${code} {`))).toBe(true)
  expect(spy.mock.calls.filter(([{ caller }]) => caller === 'areas')).toEqual([])
})

testOnServer('an area that fails is told of once, holds up no other, and is tried again', async () => {
  const code = await load(7, true)
  const { app, log } = await startProcess()
  const { writer } = service.database
  await sql`
    create function refuse_result() returns trigger language plpgsql as $$
    begin
      if new.admin_area_id = (select id from admin_area where code = 'ET-00') then
        raise exception 'no room';
      end if;
      return new;
    end
    $$`.execute(writer)
  await sql`
    create trigger refused before insert on area_result
    for each row execute function refuse_result()`.execute(writer)
  wake(app)
  const message = `the statistics of ET-00 in ${code} were not computed`
  await vi
    .waitFor(() => expect(warningsIn(log)).toEqual([expect.objectContaining({ msg: message })]), PATIENCE)
    .then(() => compute(app, code, CODES.slice(1)))
    .finally(() => sql`drop function refuse_result cascade`.execute(writer))
  await sql`update area_claim set leased_until = now() - interval '1 second'`.execute(writer)
  await compute(app, code)
  expect(warningsIn(log)).toHaveLength(1)
})

test('a process that closes leaves its areas to others at once', async () => {
  const code = await load(7, true)
  const { app, log } = await startProcess()
  let closing: Promise<void> | undefined
  interrupt(app, () => {
    closing = app.close()
  })
  wake(app)
  await vi.waitFor(() => expect(closing).toBeDefined(), PATIENCE)
  await closing
  expect([await countClaims(), warningsIn(log)]).toEqual([0, []])
  await compute((await startProcess()).app, code)
})

testOnServer('results of an older version are computed again, those of a newer one left', async () => {
  const code = await load(7, true)
  await compute((await startProcess()).app, code)
  const { writer } = service.database
  await sql`
    update area_result set statistics = '{}', statistics_version = case area.code when 'ET-00' then 3 else 0 end
    from admin_area as area
    where area.id = admin_area_id`.execute(writer)
  await compute((await startProcess()).app, code, CODES.slice(1))
  const { rows } = await sql`select statistics from area_result where statistics_version = 3`.execute(writer)
  expect(rows).toEqual([{ statistics: {} }])
})

testOnServer('a process says after each release once how many areas it has computed', async () => {
  const code = await load(7, true)
  const { app, log } = await startProcess()
  await compute(app, code)
  const line = expect.objectContaining({ level: 30, areas: CODES.length, msg: 'all areas have results' })
  const told = () => linesOf(log).filter(({ areas }) => areas !== undefined)
  await vi.waitFor(() => expect(told()).toEqual([line]), PATIENCE)
  const next = await load(8)
  await compute(app, next)
  await vi.waitFor(() => expect(told()).toEqual([line, line]), PATIENCE)
})

const load = async (rate: number, publish = false) =>
  (await loadRelease(service.database, onePixelRelease({ Urea: rate }), { publish })).code

/** A process that computes when it is told to, and the lines of its log. */
async function startProcess(): Promise<{ app: App; log: string[] }> {
  const app = await buildApp(service.testDatabase.config, service.database)
  onTestFinished(() => app.close())
  return { app, log: captureLog(app) }
}

const linesOf = (log: string[]) => log.map((line) => JSON.parse(line))

const warningsIn = (log: string[]) => linesOf(log).filter(({ level }) => level > 30)

/** The areas with a result in a release, of the present boundaries and this version. */
async function listComputed(release: string): Promise<string[]> {
  const { rows } = await sql<{ code: string }>`
    select area.code
    from area_result
    join release on release.id = release_id and release.code = ${release}
    join admin_area as area on area.id = admin_area_id
    join boundary_set on boundary_set.country_code = area.country_code
      and boundary_set.level = area.level and loaded_at = boundaries_loaded_at
    where statistics_version = 2
    order by area.code`.execute(service.database.writer)
  return rows.map(({ code }) => code)
}

async function countClaims(): Promise<number> {
  const { rows } = await sql`select from area_claim`.execute(service.database.writer)
  return rows.length
}

const wake = (app: App) => app.jobs.wake('compute-areas')

/** Has a process compute until a release has all results. */
async function compute(app: App, release: string, codes: readonly string[] = CODES): Promise<void> {
  wake(app)
  await vi.waitFor(async () => expect(await listComputed(release)).toEqual(codes), PATIENCE)
}

/** The answers for all areas, to the byte. */
async function askForAreas(app: App): Promise<string[]> {
  const answers = await Promise.all(
    CODES.map((code) =>
      call(app, 'POST /advisory/fertilizer', {
        by: service.person,
        headers: { prefer: 'history=none' },
        payload: { admin: { country_code: 'eth', code } },
      }),
    ),
  )
  return answers.map(({ status, headers, text }) => `${status} ${headers['advisory-release']} ${text}`)
}

/** The answers of a process that may read no tiles: it computes nothing. */
async function askWithoutTiles(app: App): Promise<string[]> {
  const { writer } = service.database
  await sql`alter table raster_tile rename to hidden_tile`.execute(writer)
  return askForAreas(app).finally(() => sql`alter table hidden_tile rename to raster_tile`.execute(writer))
}

/** The answers of a process that has computed nothing beforehand. */
async function askAnew(): Promise<string[]> {
  await sql`delete from area_result`.execute(service.database.writer)
  return askForAreas((await startProcess()).app)
}

/** Has something happen in the midst of the first computation of areas. */
function interrupt(app: App, work: () => unknown): void {
  const { next } = app.slices
  let isDone = false
  const spy = vi.spyOn(app.slices, 'next').mockImplementation(async (clientKey, signal) => {
    if (clientKey.caller === 'areas' && !isDone) {
      isDone = true
      await work()
    }
    return next(clientKey, signal)
  })
  onTestFinished(() => spy.mockRestore())
}
