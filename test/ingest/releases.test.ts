import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Database } from '#src/database/client.ts'
import {
  deleteRelease,
  findPublished,
  insertRelease,
  listReleases,
  publishRelease,
  rollbackRelease,
  type Series,
} from '#src/domains/releases/queries.ts'
import { loadRelease } from '#src/ingest/load.ts'
import type { CoverageSource, LayerSource, ReleaseSource } from '#src/ingest/source.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { PATIENCE } from '#test/setup/patience.ts'

let service: TestApp
beforeAll(async () => {
  // Each answer is of what is published when it is asked for, not up to two seconds before.
  service = await createTestApp({ template: 'empty', settings: { RELEASE_MAX_AGE_MS: '0' } })
})
afterAll(() => service.close())

const PLACE = { lat: 9.995, lng: 38.005 }

interface SourceOptions extends Partial<Series> {
  synthetic?: boolean
  /** The values of the layers, which are fertilizers. */
  values?: number[]
  /** Called before each window is read. */
  onRead?: () => unknown
}

/** A release of one pixel a layer. */
function sourceOf({ values = [1], onRead, ...series }: SourceOptions): ReleaseSource {
  const layers = values.map(
    (_, index): LayerSource => ({
      input: `F${index}`,
      scenario: 'Normal',
      unit: 'kg/ha',
      scale: 1,
      offset: 0,
      decimals: 2,
      pixelType: '32BF',
      nodata: undefined,
      origin: 'the test',
    }),
  )
  const coverage: CoverageSource = {
    grid: { srid: 4326, originX: 38, originY: 10, pixelWidth: 0.01, pixelHeight: -0.01, width: 1, height: 1 },
    layers,
    windows: [{ column: 0, row: 0, width: 1, height: 1 }],
    async read() {
      await onRead?.()
      return values.map((value) => Float32Array.of(value))
    },
  }
  return {
    description: {
      product: 'fertilizer',
      countryCode: 'eth',
      cropCode: 'wheat',
      forecastPeriod: '2025-01-01',
      synthetic: false,
      source: 'A test',
      licence: 'CC0-1.0',
      checksum: values.join(),
      ...series,
    },
    coverages: [coverage],
  }
}

const load = (options: SourceOptions, publish = true) =>
  loadRelease(service.database, sourceOf(options), { publish })

const change = <Result>(
  work: (
    trx: Parameters<Parameters<ReturnType<Database['writer']['transaction']>['execute']>[0]>[0],
  ) => Promise<Result>,
) => service.database.writer.transaction().execute(work)
const publish = (code: string) => change((trx) => publishRelease(trx, code))
const rollback = (code: string) => change((trx) => rollbackRelease(trx, code))
const remove = (code: string, force = false) => change((trx) => deleteRelease(trx, code, force))

async function ask(payload: Record<string, unknown> = {}) {
  const response = await service.app.inject({
    method: 'POST',
    url: '/advisory/fertilizer/point',
    payload: { ...PLACE, ...payload },
  })
  const body = response.json()
  return {
    status: response.statusCode,
    release: response.headers['advisory-release'],
    values: body.fertilizer_data?.map(({ rate_kg_ha }: { rate_kg_ha: number }) => rate_kg_ha),
    code: body.code,
  }
}

describe('versions and codes', () => {
  test('the first release of a series is version 1, the next one 2, and each replaces the one before', async () => {
    const period = { forecastPeriod: '2031-01-01' }
    expect(await load({ ...period, values: [1] })).toEqual({
      code: 'fertilizer-eth-wheat-2031-01-v1',
      tiles: 1,
      replaced: undefined,
      warnings: [],
    })
    expect(await load({ ...period, values: [2] })).toMatchObject({
      code: 'fertilizer-eth-wheat-2031-01-v2',
      replaced: 'fertilizer-eth-wheat-2031-01-v1',
    })
    expect(await ask({ forecast_period: '2031-01' })).toMatchObject({
      release: 'fertilizer-eth-wheat-2031-01-v2',
      values: [2],
    })
  })

  test('every series counts for itself, and synthetic releases apart from real ones', async () => {
    expect(await load({ forecastPeriod: '2031-02-01' })).toMatchObject({
      code: 'fertilizer-eth-wheat-2031-02-v1',
    })
    expect(await load({ forecastPeriod: '2031-02-01', synthetic: true }, false)).toMatchObject({
      code: 'synthetic-fertilizer-eth-wheat-2031-02-v1',
    })
    expect(await load({ product: 'forage', cropCode: null, forecastPeriod: null })).toMatchObject({
      code: 'forage-eth-v1',
    })
  })

  test('the code of a deleted release is never given again', async () => {
    const period = { forecastPeriod: '2031-03-01' }
    const first = await load(period, false)
    const second = await load(period, false)
    await remove(second.code)
    await remove(first.code)
    expect(await load(period, false)).toMatchObject({ code: 'fertilizer-eth-wheat-2031-03-v3' })
    await expect(publish(first.code)).rejects.toThrow(
      `There is no release ${first.code}; \`agro releases list\` shows them.`,
    )
  })

  test('a release that was not published does not answer until it is', async () => {
    const period = { forecastPeriod: '2031-04-01' }
    const { code } = await load({ ...period, values: [7] }, false)
    expect(await ask({ forecast_period: '2031-04' })).toMatchObject({ status: 404, code: 'NO_RELEASE' })
    expect(await publish(code)).toBeUndefined()
    expect(await ask({ forecast_period: '2031-04' })).toMatchObject({ release: code, values: [7] })
  })

  test('publishing what is published changes nothing', async () => {
    const period = { forecastPeriod: '2031-05-01' }
    const first = await load(period)
    const second = await load(period)
    expect(await publish(second.code)).toBeUndefined()
    expect(await rollback(second.code)).toBe(first.code)
  })
})

describe('rolling back', () => {
  const period = { forecastPeriod: '2032-01-01' }
  let first: string
  let second: string
  beforeAll(async () => {
    first = (await load({ ...period, values: [1] })).code
    second = (await load({ ...period, values: [2] })).code
  })

  test('returns to what was published before, and a second time to where one was', async () => {
    expect(await rollback(second)).toBe(first)
    expect(await ask({ forecast_period: '2032-01' })).toMatchObject({ release: first, values: [1] })
    expect(await rollback(first)).toBe(second)
    expect(await ask({ forecast_period: '2032-01' })).toMatchObject({ release: second, values: [2] })
  })

  test('of a release that is not published is refused', async () => {
    await expect(rollback(first)).rejects.toThrow(`${first} is not published: there is nothing to roll back.`)
  })

  test('of the first release is refused', async () => {
    const { code } = await load({ forecastPeriod: '2032-02-01' })
    await expect(rollback(code)).rejects.toThrow(
      `Nothing was published before ${code}; to withdraw it, delete it with --force.`,
    )
  })

  test('to a release that has been deleted is refused', async () => {
    await remove(first)
    await expect(rollback(second)).rejects.toThrow(`Nothing was published before ${second}`)
    expect(await ask({ forecast_period: '2032-01' })).toMatchObject({ release: second, values: [2] })
  })
})

describe('deleting', () => {
  test('a published release needs force, and then nothing answers', async () => {
    const { code } = await load({ forecastPeriod: '2033-01-01' })
    await expect(remove(code)).rejects.toThrow(
      `${code} is published: roll it back or publish another first, or use --force.`,
    )
    expect(await ask({ forecast_period: '2033-01' })).toMatchObject({ status: 200, release: code })
    await remove(code, true)
    expect(await ask({ forecast_period: '2033-01' })).toMatchObject({ status: 404, code: 'NO_RELEASE' })
    await expect(remove(code, true)).rejects.toThrow(`There is no release ${code}`)
  })

  test('takes the tiles along and keeps the row', async () => {
    const { writer } = service.database
    const { code } = await load({ forecastPeriod: '2033-02-01' }, false)
    await remove(code)
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

describe('releases that are not complete', () => {
  test('are not published, are listed as loading, and can be deleted', async () => {
    const { writer } = service.database
    const { code } = await insertRelease(writer, sourceOf({ forecastPeriod: '2034-01-01' }).description)
    await expect(publish(code)).rejects.toThrow(
      `${code} is not complete: its load was cut off. Delete it and ingest it again.`,
    )
    const listed = (await listReleases(writer)).find((release) => release.code === code)
    expect(listed).toMatchObject({ status: 'loading', publishedAt: null })
    await remove(code)
    expect((await listReleases(writer)).map((release) => release.code)).not.toContain(code)
  })

  test('leave nothing behind when reading fails', async () => {
    const period = { forecastPeriod: '2034-02-01' }
    const before = await load({ ...period, values: [5] })
    const failing = load({
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

  test('do not answer while they are being loaded', async () => {
    const period = { forecastPeriod: '2034-03-01' }
    const before = await load({ ...period, values: [5] })
    const seen: unknown[] = []
    const after = await load({
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

  test.runIf(process.env.TEST_DATABASE_KIND === 'server').each([
    ['tiles', 'raster_tile'],
    ['summaries', 'tile_summary'],
  ])('leave nothing behind when the connection that writes the %s dies', async (_, table) => {
    const { pool, writer } = service.database
    const failing = load({ forecastPeriod: '2034-04-01', onRead: () => killWriterOf(table) })
    await expect(failing).rejects.toThrow(/terminating connection|Connection terminated/)
    const left = (await listReleases(writer)).filter(({ status }) => status === 'loading')
    expect(left).toEqual([])
    await vi.waitFor(() => expect(pool.idleCount).toBe(pool.totalCount), PATIENCE)
  })
})

/** Ends the connection that writes into a table as soon as the server has its statement. */
async function killWriterOf(table: string): Promise<void> {
  await vi.waitUntil(async () => {
    const { rowCount } = await service.database.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where state = 'active' and query like 'copy ' || $1 || ' %' and datname = current_database()`,
      [table],
    )
    return rowCount === 1
  }, PATIENCE)
}

describe('which release answers', () => {
  test('two months are published at once, and without a month the newest answers', async () => {
    const series = { cropCode: 'potato', countryCode: 'rwa' }
    const place = { crop: 'potato', country_code: 'rwa' }
    const july = await load({ ...series, forecastPeriod: '2026-07-01', values: [7] })
    const june = await load({ ...series, forecastPeriod: '2026-06-01', values: [6] })
    expect(await ask(place)).toMatchObject({ release: july.code, values: [7] })
    expect(await ask({ ...place, forecast_period: '2026-06' })).toMatchObject({ release: june.code })
    await remove(july.code, true)
    expect(await ask(place)).toMatchObject({ release: june.code, values: [6] })
  })

  test('a real release comes before a synthetic one of a later month', async () => {
    const series = { product: 'fertilizer' as const, cropCode: 'potato', countryCode: 'rwa' }
    const place = { crop: 'potato', country_code: 'rwa' }
    const synthetic = await load({ ...series, forecastPeriod: '2027-01-01', synthetic: true, values: [100] })
    expect((await ask(place)).values).toEqual([6])
    expect(await ask({ ...place, forecast_period: '2027-01' })).toMatchObject({ release: synthetic.code })
  })

  test('a real release takes the place of a synthetic one of the same month', async () => {
    const synthetic = await load({ forecastPeriod: '2035-01-01', synthetic: true, values: [100] })
    const real = await load({ forecastPeriod: '2035-01-01', values: [1] })
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

describe('while operators publish', () => {
  const PERIOD = '2036-01'
  const LAYERS = 8

  test('no request sees an error, or the values of two releases', async () => {
    const period = { forecastPeriod: `${PERIOD}-01` }
    const codes = new Map<unknown, number>()
    for (const value of [1, 2]) {
      const values = Array.from({ length: LAYERS }, () => value)
      codes.set((await load({ ...period, values })).code, value)
    }
    const [first, second] = [...codes.keys()] as [string, string]

    let done = false
    const answers: Awaited<ReturnType<typeof ask>>[] = []
    const asked = Array.from({ length: 20 }, async () => {
      while (!done) answers.push(await ask({ forecast_period: PERIOD }))
    })
    const seen = () => new Set(answers.map(({ release }) => release)).size
    // Answers may be as quick as flips: there are as many as it takes for both releases to answer.
    for (let flip = 0; flip < 20 || (seen() < 2 && flip < 2000); flip++) {
      await publish(flip % 2 === 0 ? first : second)
    }
    done = true
    await Promise.all(asked)

    for (const { status, release, values } of answers) {
      expect({ status, values }).toEqual({
        status: 200,
        values: Array.from({ length: LAYERS }, () => codes.get(release)),
      })
    }
    expect(seen()).toBe(2)
  })

  test('nor when a release is deleted as soon as another one has taken its place', async () => {
    const period = { forecastPeriod: '2036-02-01' }
    await load({ ...period, values: [0] })
    let done = false
    const asked = Array.from({ length: 20 }, async () => {
      const answers = []
      while (!done) answers.push(await ask({ forecast_period: '2036-02' }))
      return answers
    })
    for (let version = 1; version <= 10; version++) {
      const { replaced } = await load({ ...period, values: [version] })
      await remove(replaced as string)
    }
    done = true
    const answers = (await Promise.all(asked)).flat()
    const mixed = answers.filter(
      ({ status, release, values }) =>
        status !== 200 || release !== `fertilizer-eth-wheat-2036-02-v${values[0] + 1}`,
    )
    expect(mixed).toEqual([])
    expect(answers.length).toBeGreaterThan(20)
  })
})
