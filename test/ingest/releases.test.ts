import { beforeAll, expect, test } from 'vitest'
import { findPublished, listReleases } from '#src/catalog/release-queries.ts'
import { insertRelease } from '#src/ingest/queries.ts'
import { openService } from '#test/setup/open-service.ts'
import { askFertilizer, PIXEL_CENTRE, releaseDescription } from '#test/setup/releases.ts'
import { createLoadingOperator, type LoadingOperator } from './operator.ts'

// Each answer is of what is published when it is asked for, not up to two seconds before.
const service = openService({ template: 'empty', settings: { RELEASE_MAX_AGE_MS: '0' } })
let operator: LoadingOperator
beforeAll(async () => {
  operator = createLoadingOperator(service.database)
})

const ask = (payload: object) => askFertilizer(service.app, { ...PIXEL_CENTRE, ...payload })
const ofMonth = (month: string, value = 1) => ({ forecastPeriod: `${month}-01`, values: [value] })
const codeOf = (release: string) => `fertilizer-eth-wheat-${release}`

test('every series counts for itself, and synthetic releases apart from real ones', async () => {
  const load = async (series: object) =>
    (await operator.load({ ...ofMonth('2031-02'), ...series }, false)).code
  expect(await load({})).toBe(codeOf('2031-02-v1'))
  expect(await load({ synthetic: true })).toBe(`synthetic-${codeOf('2031-02-v1')}`)
  expect(await load({ product: 'forage', cropCode: null, forecastPeriod: null })).toBe('forage-eth-v1')
})

test('a deleted release leaves its row alone, and its code is never given again', async () => {
  const { writer } = service.database
  const first = await operator.load(ofMonth('2031-03'), false)
  const second = await operator.load(ofMonth('2031-03'), false)
  await operator.remove(second.code)
  await operator.remove(first.code)
  expect(await operator.load(ofMonth('2031-03'), false)).toMatchObject({ code: codeOf('2031-03-v3') })
  await expect(operator.publish(first.code)).rejects.toThrow(
    `There is no release ${first.code}; \`agro releases list\` shows them.`,
  )
  expect((await listReleases(writer)).map(({ code }) => code)).not.toContain(first.code)
  const rows = writer
    .selectFrom('release')
    .leftJoin('coverage', 'coverage.release_id', 'release.id')
    .select(['release.status', 'coverage.id as coverage'])
  expect(await rows.where('release.code', '=', first.code).execute()).toEqual([
    { status: 'deleted', coverage: null },
  ])
})

test('a release that was not published does not answer until it is, and publishing it again changes nothing', async () => {
  const { code } = await operator.load(ofMonth('2031-04', 7), false)
  expect(await ask({ forecast_period: '2031-04' })).toMatchObject({ status: 404, code: 'NO_RELEASE' })
  expect(await operator.publish(code)).toBeUndefined()
  expect(await ask({ forecast_period: '2031-04' })).toMatchObject({ release: code, values: [7] })
  const next = await operator.load(ofMonth('2031-04'))
  expect(await operator.publish(next.code)).toBeUndefined()
  expect(await operator.rollback(next.code)).toBe(code)
})

test('a rollback returns to what was published before, a second one to where one was, and none to what is gone', async () => {
  const answer = async () => (await ask({ forecast_period: '2032-01' })).values
  const first = (await operator.load(ofMonth('2032-01', 1))).code
  await expect(operator.rollback(first)).rejects.toThrow(
    `Nothing was published before ${first}: \`agro releases rollback\` withdraws it.`,
  )
  const second = (await operator.load(ofMonth('2032-01', 2))).code
  expect([await operator.rollback(second), await answer()]).toEqual([first, [1]])
  expect([await operator.rollback(first), await answer()]).toEqual([second, [2]])
  await expect(operator.rollback(first)).rejects.toThrow(
    `${first} is not published: there is nothing to roll back.`,
  )
  await operator.remove(first)
  await expect(operator.rollback(second)).rejects.toThrow(`Nothing was published before ${second}`)
  expect(await answer()).toEqual([2])
})

test('without a month the newest answers, and any real release before a synthetic one', async () => {
  const series = { cropCode: 'potato', countryCode: 'rwa' }
  const place = { crop: 'potato', country_code: 'rwa' }
  const july = await operator.load({ ...series, ...ofMonth('2026-07', 7) })
  const june = await operator.load({ ...series, ...ofMonth('2026-06', 6) })
  expect(await ask(place)).toMatchObject({ release: july.code, values: [7] })
  expect(await ask({ ...place, forecast_period: '2026-06' })).toMatchObject({ release: june.code })
  await operator.remove(july.code, true)
  const synthetic = await operator.load({ ...series, ...ofMonth('2027-01', 100), synthetic: true })
  expect(await ask(place)).toMatchObject({ release: june.code, values: [6] })
  expect(await ask({ ...place, forecast_period: '2027-01' })).toMatchObject({ release: synthetic.code })
})

test('a real release takes the place of a synthetic one of the same month', async () => {
  const synthetic = await operator.load({ ...ofMonth('2035-01', 100), synthetic: true })
  const real = await operator.load(ofMonth('2035-01', 1))
  expect(real.replaced).toBe(synthetic.code)
  const series = releaseDescription({ forecastPeriod: '2035-01-01' })
  expect(await findPublished(service.database.writer, series)).toMatchObject({ code: real.code })
})

test('incomplete releases are not published, are listed as loading, and can be deleted', async () => {
  const { writer } = service.database
  const { code } = await insertRelease(writer, releaseDescription({ forecastPeriod: '2034-01-01' }))
  await expect(operator.publish(code)).rejects.toThrow(
    `${code} is not complete: its load was cut off. Delete it and ingest it again.`,
  )
  const listed = (await listReleases(writer)).find((release) => release.code === code)
  expect(listed).toMatchObject({ status: 'loading', publishedAt: null })
  await operator.remove(code)
  expect((await listReleases(writer)).map((release) => release.code)).not.toContain(code)
})

test('loads leave nothing behind when reading fails', async () => {
  const period = { forecastPeriod: '2034-02-01' }
  const before = await operator.load({ ...period, values: [5] })
  const failing = operator.load({
    ...period,
    onRead: () => {
      throw new Error('the disk is gone')
    },
  })
  await expect(failing).rejects.toThrow('the disk is gone')
  const left = (await listReleases(service.database.writer)).filter(({ status }) => status === 'loading')
  expect(left).toEqual([])
  expect(await ask({ forecast_period: '2034-02' })).toMatchObject({ release: before.code, values: [5] })
})

test('releases do not answer while they are being loaded', async () => {
  const period = { forecastPeriod: '2034-03-01' }
  const before = await operator.load({ ...period, values: [5] })
  const seen: unknown[] = []
  const after = await operator.load({
    ...period,
    values: [6],
    onRead: async () => {
      // The embedded database has one session, which the load does not hold while it reads.
      seen.push(await ask({ forecast_period: '2034-03' }))
    },
  })
  expect(seen).toMatchObject([{ release: before.code, values: [5] }])
  expect(await ask({ forecast_period: '2034-03' })).toMatchObject({ release: after.code, values: [6] })
})

type Answers = Awaited<ReturnType<typeof ask>>[]

/** Asks again and again, by twenty at once, while something is done; it ends once two releases have answered. */
async function askWhile(forecast_period: string, work: (round: number) => Promise<unknown>, rounds: number) {
  let done = false
  const answers: Answers = []
  const asked = Array.from({ length: 20 }, async () => {
    while (!done) answers.push(await ask({ forecast_period }))
  })
  const seen = () => new Set(answers.map(({ release }) => release)).size
  // Answers may be as quick as the work, or wait for longer.
  for (let round = 0; round < rounds || (seen() < 2 && round < 100 * rounds); round++) await work(round)
  done = true
  await Promise.all(asked)
  expect(seen()).toBeGreaterThan(1)
  return answers
}

test('no request sees an error or values of two releases while one is published and the one before is deleted', async () => {
  const period = { forecastPeriod: '2036-02-01' }
  const valuesOf = (version: number): number[] => Array(8).fill(version)
  await operator.load({ ...period, values: valuesOf(1) })
  const replace = async (round: number) => {
    const { replaced } = await operator.load({ ...period, values: valuesOf(round + 2) })
    await operator.remove(replaced as string)
  }
  for (const { status, release, values } of await askWhile('2036-02', replace, 10)) {
    const version = Number(/v(\d+)$/.exec(String(release))?.[1])
    expect({ status, values }).toEqual({ status: 200, values: valuesOf(version) })
  }
})
