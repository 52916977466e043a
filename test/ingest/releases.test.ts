import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findPublished, listReleases } from '#src/catalog/release-queries.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { askFertilizer, PIXEL_CENTRE } from '#test/setup/releases.ts'
import { createLoadingOperator, type LoadingOperator } from './operator.ts'

let service: TestApp
let operator: LoadingOperator
beforeAll(async () => {
  // Each answer is of what is published when it is asked for, not up to two seconds before.
  service = await createTestApp({ template: 'empty', settings: { RELEASE_MAX_AGE_MS: '0' } })
  operator = createLoadingOperator(service.database)
})
afterAll(() => service.close())

const ask = (payload: object) => askFertilizer(service.app, { ...PIXEL_CENTRE, ...payload })

describe('versions and codes', () => {
  test('the first release of a series is version 1, the next one 2, and each replaces the one before', async () => {
    const period = { forecastPeriod: '2031-01-01' }
    expect(await operator.load({ ...period, values: [1] })).toEqual({
      code: 'fertilizer-eth-wheat-2031-01-v1',
      tiles: 1,
      published: true,
      replaced: undefined,
      findings: [],
    })
    expect(await operator.load({ ...period, values: [2] })).toMatchObject({
      code: 'fertilizer-eth-wheat-2031-01-v2',
      replaced: 'fertilizer-eth-wheat-2031-01-v1',
    })
    expect(await ask({ forecast_period: '2031-01' })).toMatchObject({
      release: 'fertilizer-eth-wheat-2031-01-v2',
      values: [2],
    })
  })

  test('every series counts for itself, and synthetic releases apart from real ones', async () => {
    expect(await operator.load({ forecastPeriod: '2031-02-01' })).toMatchObject({
      code: 'fertilizer-eth-wheat-2031-02-v1',
    })
    expect(await operator.load({ forecastPeriod: '2031-02-01', synthetic: true }, false)).toMatchObject({
      code: 'synthetic-fertilizer-eth-wheat-2031-02-v1',
    })
    expect(await operator.load({ product: 'forage', cropCode: null, forecastPeriod: null })).toMatchObject({
      code: 'forage-eth-v1',
    })
  })

  test('the code of a deleted release is never given again', async () => {
    const period = { forecastPeriod: '2031-03-01' }
    const first = await operator.load(period, false)
    const second = await operator.load(period, false)
    await operator.remove(second.code)
    await operator.remove(first.code)
    expect(await operator.load(period, false)).toMatchObject({ code: 'fertilizer-eth-wheat-2031-03-v3' })
    await expect(operator.publish(first.code)).rejects.toThrow(
      `There is no release ${first.code}; \`agro releases list\` shows them.`,
    )
  })

  test('a release that was not published does not answer until it is', async () => {
    const period = { forecastPeriod: '2031-04-01' }
    const { code } = await operator.load({ ...period, values: [7] }, false)
    expect(await ask({ forecast_period: '2031-04' })).toMatchObject({ status: 404, code: 'NO_RELEASE' })
    expect(await operator.publish(code)).toBeUndefined()
    expect(await ask({ forecast_period: '2031-04' })).toMatchObject({ release: code, values: [7] })
  })

  test('publishing what is published changes nothing', async () => {
    const period = { forecastPeriod: '2031-05-01' }
    const first = await operator.load(period)
    const second = await operator.load(period)
    expect(await operator.publish(second.code)).toBeUndefined()
    expect(await operator.rollback(second.code)).toBe(first.code)
  })
})

describe('rolling back', () => {
  const period = { forecastPeriod: '2032-01-01' }
  let first: string
  let second: string
  beforeAll(async () => {
    first = (await operator.load({ ...period, values: [1] })).code
    second = (await operator.load({ ...period, values: [2] })).code
  })

  test('returns to what was published before, and a second time to where one was', async () => {
    expect(await operator.rollback(second)).toBe(first)
    expect(await ask({ forecast_period: '2032-01' })).toMatchObject({ release: first, values: [1] })
    expect(await operator.rollback(first)).toBe(second)
    expect(await ask({ forecast_period: '2032-01' })).toMatchObject({ release: second, values: [2] })
  })

  test('of a release that is not published is refused', async () => {
    await expect(operator.rollback(first)).rejects.toThrow(
      `${first} is not published: there is nothing to roll back.`,
    )
  })

  test('of the first release is refused', async () => {
    const { code } = await operator.load({ forecastPeriod: '2032-02-01' })
    await expect(operator.rollback(code)).rejects.toThrow(
      `Nothing was published before ${code}: \`agro releases rollback\` withdraws it.`,
    )
  })

  test('to a release that has been deleted is refused', async () => {
    await operator.remove(first)
    await expect(operator.rollback(second)).rejects.toThrow(`Nothing was published before ${second}`)
    expect(await ask({ forecast_period: '2032-01' })).toMatchObject({ release: second, values: [2] })
  })
})

describe('deleting', () => {
  test('a published release needs force, and then nothing answers', async () => {
    const { code } = await operator.load({ forecastPeriod: '2033-01-01' })
    await expect(operator.remove(code)).rejects.toThrow(
      `${code} is published: roll it back or publish another first, or use --force.`,
    )
    expect(await ask({ forecast_period: '2033-01' })).toMatchObject({ status: 200, release: code })
    await operator.remove(code, true)
    expect(await ask({ forecast_period: '2033-01' })).toMatchObject({ status: 404, code: 'NO_RELEASE' })
    await expect(operator.remove(code, true)).rejects.toThrow(`There is no release ${code}`)
  })

  test('takes the tiles along and keeps the row', async () => {
    const { writer } = service.database
    const { code } = await operator.load({ forecastPeriod: '2033-02-01' }, false)
    await operator.remove(code)
    const row = await writer
      .selectFrom('release')
      .leftJoin('coverage', 'coverage.release_id', 'release.id')
      .select(['release.status', 'coverage.id as coverage'])
      .where('release.code', '=', code)
      .execute()
    expect(row).toEqual([{ status: 'deleted', coverage: null }])
    expect((await listReleases(writer)).map((release) => release.code)).not.toContain(code)
  })
})

describe('which release answers', () => {
  test('two months are published at once, and without a month the newest answers', async () => {
    const series = { cropCode: 'potato', countryCode: 'rwa' }
    const place = { crop: 'potato', country_code: 'rwa' }
    const july = await operator.load({ ...series, forecastPeriod: '2026-07-01', values: [7] })
    const june = await operator.load({ ...series, forecastPeriod: '2026-06-01', values: [6] })
    expect(await ask(place)).toMatchObject({ release: july.code, values: [7] })
    expect(await ask({ ...place, forecast_period: '2026-06' })).toMatchObject({ release: june.code })
    await operator.remove(july.code, true)
    expect(await ask(place)).toMatchObject({ release: june.code, values: [6] })
  })

  test('a real release comes before a synthetic one of a later month', async () => {
    const series = { product: 'fertilizer' as const, cropCode: 'potato', countryCode: 'rwa' }
    const place = { crop: 'potato', country_code: 'rwa' }
    const synthetic = await operator.load({
      ...series,
      forecastPeriod: '2027-01-01',
      synthetic: true,
      values: [100],
    })
    expect((await ask(place)).values).toEqual([6])
    expect(await ask({ ...place, forecast_period: '2027-01' })).toMatchObject({ release: synthetic.code })
  })

  test('a real release takes the place of a synthetic one of the same month', async () => {
    const synthetic = await operator.load({ forecastPeriod: '2035-01-01', synthetic: true, values: [100] })
    const real = await operator.load({ forecastPeriod: '2035-01-01', values: [1] })
    expect(real.replaced).toBe(synthetic.code)
    const published = await findPublished(service.database.writer, {
      product: 'fertilizer',
      countryCode: 'eth',
      cropCode: 'wheat',
      forecastPeriod: '2035-01-01',
    })
    expect(published?.code).toBe(real.code)
  })
})
