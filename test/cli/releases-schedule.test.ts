import { userInfo } from 'node:os'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { smooth, writeField } from '#test/ingest/checks/rasters.ts'
import { manifestText, writeManifest } from '#test/ingest/fixtures.ts'
import { runAgro } from '#test/setup/cli.ts'
import { createTestDatabase, type TestDatabase } from '#test/setup/database.ts'
import { newFolder } from '#test/setup/folders.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { addressOf, startService } from '#test/setup/service-process.ts'
import { examine } from './examination.ts'

const FIRST = 'yield-eth-wheat-2026-07-v1'
const SECOND = 'yield-eth-wheat-2026-07-v2'
const OPERATOR = userInfo().username

let testDatabase: TestDatabase
let client: pg.Client
let folder: string
const agro = (...parameters: string[]) => runAgro(testDatabase, ...parameters)

async function ingest(file: string, month: string, ...parameters: string[]) {
  const manifest = manifestText([{ file }], { forecast_period: month })
  return agro('ingest', await writeManifest(folder, manifest, `${file}-${month}.yaml`), ...parameters)
}

beforeAll(async () => {
  folder = await newFolder()
  testDatabase = await createTestDatabase('empty')
  client = new pg.Client(testDatabase.config.DATABASE_URL)
  await client.connect()
  await writeField(folder, 'first.tif', smooth)
  await writeField(folder, 'second.tif', (row, column) => smooth(row, column) + 10)
  expect((await ingest('first.tif', '2026-07')).code).toBe(0)
  expect((await ingest('second.tif', '2026-07', '--no-publish')).code).toBe(0)
})
afterAll(async () => {
  await client.end()
  await testDatabase.drop()
})

/** The state of a release as it is listed for people. */
async function stateOf(code: string): Promise<string | undefined> {
  const { stdout } = await agro('releases', 'list')
  return stdout
    .split('\n')
    .find((line) => line.startsWith(code))
    ?.split(/ {2,}/)[1]
}

/** Has the time of the second release come. */
const letTimePass = () =>
  client.query(`update scheduled_publication set publish_at = now() - interval '1 hour'`)

describe.sequential('agro releases schedule', () => {
  test('refuses a time that has passed, what is published already, and what there is not', async () => {
    const { stderr } = await agro('releases', 'schedule', SECOND, '--at', '2026-07-01T06:00Z')
    expect(stderr).toBe('2026-07-01T06:00:00.000Z has passed.\n')
    expect(await stateOf(SECOND)).toBe('not published')
    const at = ['--at', '2099-12-01T06:00Z']
    expect((await agro('releases', 'schedule', FIRST, ...at)).stderr).toBe(`${FIRST} is published already.\n`)
    expect((await agro('releases', 'schedule', 'x', ...at)).stderr).toMatch(/^There is no release x;/)
    expect((await agro('releases', 'unschedule', SECOND)).stderr).toBe(`${SECOND} is not scheduled.\n`)
  })

  test('is told by list, show and the doctor, to people and to programs', async () => {
    expect(await agro('releases', 'schedule', SECOND, '--at', '2099-12-01T09:00+03:00')).toEqual({
      code: 0,
      stdout: `${SECOND} is to be published at 2099-12-01 06:00 UTC by the services that run then.\n`,
      stderr: '',
    })
    const state = 'not published, scheduled for 2099-12-01 06:00'
    expect(await stateOf(SECOND)).toBe(state)
    const { stdout } = await agro('releases', 'show', SECOND)
    expect(stdout).toMatch(new RegExp(`^${SECOND}: ${state}\n`))
    expect(stdout).toMatch(new RegExp(`scheduled for 2099-12-01 06:00 +${OPERATOR}\n$`))
    const shown = JSON.parse((await agro('releases', 'show', SECOND, '--json')).stdout)
    const [, listed] = JSON.parse((await agro('releases', 'list', '--json')).stdout)
    for (const release of [shown, listed]) {
      expect(release).toMatchObject({
        state: 'not published',
        stale: false,
        schedule: {
          publishAt: '2099-12-01T06:00:00.000Z',
          scheduledBy: OPERATOR,
          allowed: [],
          strict: false,
          refusedAt: null,
          refusal: null,
        },
      })
    }
    expect((await examine(testDatabase)).of('releases scheduled')).toEqual([
      ['ok', `${SECOND} is to be published at 2099-12-01 06:00 UTC.`],
    ])
  })

  test('is taken back', async () => {
    expect(await agro('releases', 'unschedule', SECOND, '--json')).toMatchObject({
      code: 0,
      stdout: `${JSON.stringify({ unscheduled: SECOND }, null, 2)}\n`,
    })
    expect(await stateOf(SECOND)).toBe('not published')
    expect((await examine(testDatabase)).of('releases scheduled')).toEqual([
      ['ok', 'No release waits for its time.'],
    ])
  })

  test('is overdue for the doctor where no service runs, and done by the next that starts', async () => {
    await agro('releases', 'schedule', SECOND, '--at', '2099-12-01')
    await letTimePass()
    expect((await examine(testDatabase)).of('releases scheduled')).toEqual([
      [
        'warning',
        expect.stringMatching(
          `^${SECOND} is to be published at \\S+ \\S+ UTC, which has passed: no service has done so\\.$`,
        ),
      ],
    ])
    const service = startService({ ...testDatabase.environment, WORKERS: '2' })
    await addressOf(service)
    await vi.waitFor(async () => expect(await stateOf(SECOND)).toBe('published'), PATIENCE)
    service.signal('SIGTERM')
    await service.ended
    const { stdout } = await agro('releases', 'show', FIRST)
    expect(stdout).toMatch(new RegExp(`replaced by ${SECOND} +${OPERATOR}\n$`))
    const { history } = JSON.parse((await agro('releases', 'show', SECOND, '--json')).stdout)
    expect(history.map(({ kind }: { kind: string }) => kind)).toEqual([
      'release_scheduled',
      'release_unscheduled',
      'release_scheduled',
      'release_published',
    ])
    expect(history.at(-1)).toMatchObject({
      operator: OPERATOR,
      detail: { release: SECOND, replaced: FIRST, scheduled_by: OPERATOR },
    })
  })

  test('says by whom and how a release was rolled back', async () => {
    expect((await agro('releases', 'rollback', SECOND)).code).toBe(0)
    expect((await agro('releases', 'show', FIRST)).stdout).toMatch(
      new RegExp(`published in the place of ${SECOND}; by a rollback +${OPERATOR}\n$`),
    )
    expect((await agro('releases', 'show', SECOND)).stdout).toMatch(
      new RegExp(`rolled back to ${FIRST} +${OPERATOR}\n$`),
    )
  })

  test('is refused now for what the checks find now, unless that is allowed', async () => {
    expect((await ingest('first.tif', '2026-08')).code).toBe(0)
    const sentence =
      'The month 2026-07 is older than 2026-08, which is published: only who asks for 2026-07 would get these values. (month)\n'
    const at = ['--at', '2099-12-01T06:00Z']
    expect(await agro('releases', 'schedule', SECOND, ...at)).toEqual({
      code: 1,
      stdout: '',
      stderr: `error: ${sentence}${SECOND} is not scheduled: mend it, or schedule it with --allow month.\n`,
    })
    expect(await stateOf(SECOND)).toBe('not published')
    expect(await agro('releases', 'schedule', SECOND, ...at, '--allow', 'month')).toMatchObject({
      code: 0,
      stderr: `allowed: ${sentence}`,
    })
  })

  test('keeps why a release was refused at its time, for list, show and the doctor', async () => {
    await client.query(`update scheduled_publication set allowed = '{}'`)
    await letTimePass()
    const service = startService({ ...testDatabase.environment, LOG_LEVEL: 'warn' })
    await addressOf(service)
    await vi.waitFor(async () => expect(await stateOf(SECOND)).toMatch('refused'), PATIENCE)
    service.signal('SIGTERM')
    await service.ended
    expect(service.stdout() + service.stderr()).toContain('a scheduled release is not published')
    const refusal =
      'month: The month 2026-07 is older than 2026-08, which is published: only who asks for 2026-07 would get these values.'
    expect((await agro('releases', 'list')).stdout).toContain(`\n${SECOND} was refused: ${refusal}\n`)
    expect((await agro('releases', 'show', SECOND)).stdout).toContain(`\nrefused: ${refusal}\n`)
    const [[level, sentence]] = (await examine(testDatabase)).of('releases scheduled') as [[string, string]]
    expect([level, sentence]).toEqual(['warning', expect.stringContaining(`UTC: ${refusal}`)])
    expect((await agro('releases', 'unschedule', SECOND)).code).toBe(0)
    expect(await stateOf(SECOND)).toBe('not published')
  })
})

describe.sequential('agro ingest --publish-at', () => {
  const THIRD = 'yield-eth-wheat-2026-08-v2'
  const schedule = (at: string, ...parameters: string[]) =>
    ingest('second.tif', '2026-08', '--publish-at', at, ...parameters)

  test('loads nothing for a time that has passed', async () => {
    expect(await schedule('2026-07-01')).toMatchObject({
      code: 1,
      stderr: '2026-07-01T00:00:00.000Z has passed.\n',
    })
    expect(await stateOf(THIRD)).toBeUndefined()
  })

  test('loads a release and leaves its publication to the services', async () => {
    expect((await schedule('2099-12-01T06:00Z')).stdout).toMatch(
      new RegExp(`^${THIRD} is complete and to be published at 2099-12-01 06:00 UTC: \\d+ tiles in `),
    )
    expect(await stateOf(THIRD)).toBe('not published, scheduled for 2099-12-01 06:00')
  })

  test('schedules anew what is loaded already', async () => {
    const { stdout } = await schedule('2099-12-02', '--json')
    expect(JSON.parse(stdout)).toMatchObject({
      release: THIRD,
      loaded: false,
      published: false,
      scheduled: '2099-12-02T00:00:00.000Z',
    })
    expect(await stateOf(THIRD)).toBe('not published, scheduled for 2099-12-02 00:00')
  })

  test('cannot be limited by a change, of which nobody knows it yet', async () => {
    const { code, stderr } = await schedule('2099-12-01', '--max-change', '25%')
    expect([code, stderr]).toEqual([2, expect.stringMatching(/cannot be used with option '--max-change/)])
  })
})
