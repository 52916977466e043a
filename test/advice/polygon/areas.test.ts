import { sql } from 'kysely'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { summariseCoverages } from '#src/ingest/pixel-writing.ts'
import { SUMMARY_VERSION } from '#src/raster/summary.ts'
import { boundaryFile, feature, loadFile, rectangle } from '#test/setup/boundaries.ts'
import { openService } from '#test/setup/open-service.ts'
import { operatorOf } from '#test/setup/releases.ts'
import { askWithin } from './ask.ts'

const service = openService()

async function ask(payload: object, product = 'fertilizer') {
  const { status, body } = await askWithin(service.app, service.person, product, payload)
  const { history_id: _, ...answer } = body
  return { status, body: answer }
}

const AREA = { admin: { country_code: 'ETH', code: 'ETH-01' } }

async function kept(): Promise<number> {
  const rows = await service.database.reader.selectFrom('area_result').select('release_id').execute()
  return rows.length
}

test('an area is answered in the same way when its result is kept, and by its name', async () => {
  const before = await kept()
  const first = await ask(AREA)
  expect(first.status).toBe(200)
  const admin = { country_code: 'eth', level: 1, code: 'ETH-01', name: 'Addis Ababa' }
  expect(first.body.location).toMatchObject({ name: 'Addis Ababa', admin })
  expect(first.body).toMatchObject({
    forecast_period: 'July 2026',
    forecast_month: '2026-07',
    release: 'synthetic-fertilizer-eth-wheat-2026-07-v1',
    synthetic: true,
  })
  expect(await kept()).toBe(before + 1)
  const second = await ask({ ...AREA, country_code: 'eth' })
  expect(second.body).toEqual(first.body)
  expect(await kept()).toBe(before + 1)
  const named = await ask({ ...AREA, name: 'The capital' })
  expect(named.body.location).toMatchObject({ name: 'The capital', admin })
})

test('many who ask for an area at once are all answered, and one result is kept', async () => {
  const before = await kept()
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => ask({ admin: { country_code: 'eth', code: 'ETH-02' } })),
  )
  for (const { status, body } of answers) {
    expect(status).toBe(200)
    expect(body).toEqual(answers[0]?.body)
  }
  expect(await kept()).toBe(before + 1)
})

test('an area answers as its shape does', async () => {
  const area = (await ask({ admin: { country_code: 'ken', code: 'KEN-01' } }, 'forage')).body
  const url = '/admin?admin0=ken&level=1&geometry=full&format=geojson'
  const list = await service.get(url, { by: service.person })
  const { geometry } = list.body.features.find(({ id }: { id: string }) => id === 'KEN-01')
  const shape = (await ask({ geometry, country_code: 'ken' }, 'forage')).body
  expect(shape.location).not.toHaveProperty('admin')
  // The list's shapes are rounded to a tenth of a metre.
  expect(shape.location.area_ha / area.location.area_ha).toBeCloseTo(1, 4)
  expect(shape.forage_data.map((entry: Record<string, unknown>) => entry.suitability_score)).toEqual(
    area.forage_data.map((entry: Record<string, unknown>) => entry.suitability_score),
  )
})

test('boundaries that are loaded again are asked about again', async () => {
  const load = async (east: number) => {
    const area = feature({ code: 'RW1', name: 'East' }, rectangle(29.5, -2.2, east, -1.8))
    const path = await boundaryFile([area])
    const maintenance =
      service.cluster.kind === 'server' ? service.cluster.connectForMaintenance() : service.database
    await loadFile(maintenance, path, 'rwa', 1)
    if (maintenance !== service.database) await maintenance.close()
  }
  const request = { admin: { country_code: 'rwa', code: 'RW1' }, crop: 'potato' }
  await load(30)
  const first = (await ask(request)).body
  await load(30.5)
  const second = (await ask(request)).body
  expect(second.location.area_ha / first.location.area_ha).toBeCloseTo(2, 6)
  expect(second.fertilizer_data).not.toEqual(first.fertilizer_data)
})

describe('what is stored of other versions', () => {
  const POLYGON = { country_code: 'eth', geometry: rectangle(36, 7, 41, 12) }

  beforeAll(async () => {
    // To summarise those of all releases takes ten times as long.
    const releases = await service.database.reader.selectFrom('release').select('code').execute()
    for (const { code } of releases) {
      if (code !== 'synthetic-fertilizer-eth-wheat-2026-07-v1')
        await operatorOf(service.database).remove(code, true)
    }
  })
  beforeEach(async () => {
    await service.database.writer.updateTable('coverage').set({ summarised: false }).execute()
    await summariseCoverages(service.database)
  })

  async function answerTo(payload: object): Promise<object> {
    const { status, body } = await ask(payload)
    expect(status).toBe(200)
    return body
  }

  test.each([
    // Statistics are stored in the form of version 2.
    { name: 'an older', version: 1, left: 2 },
    { name: 'a newer', version: 3, left: 3 },
  ])('the result of an area in the form of $name version is not answered from', async ({ version, left }) => {
    const { writer } = service.database
    await writer.deleteFrom('area_result').execute()
    const first = await answerTo(AREA)
    await writer
      .updateTable('area_result')
      .set({ statistics_version: version, statistics: { of: 'another form' } })
      .execute()
    expect(await answerTo(AREA)).toEqual(first)
    const rows = await writer.selectFrom('area_result').select('statistics_version').execute()
    expect(rows).toEqual([{ statistics_version: left }])
    expect(await answerTo(AREA)).toEqual(first)
  })

  /** Makes the summaries of all coverages useless, as they are to one who reads another form. */
  async function summariesOfVersion(version: number): Promise<void> {
    const { writer } = service.database
    await writer.updateTable('coverage').set({ summary_version: version }).execute()
    await writer
      .updateTable('tile_summary')
      .set({ bands: Buffer.from('another form') })
      .execute()
  }

  /** Answers are added up in another order from tiles than from blocks: the last digits may differ. */
  async function expectSameAnswer(before: object): Promise<void> {
    const round = (answer: object) =>
      JSON.parse(JSON.stringify(answer), (_, value) =>
        typeof value === 'number' ? Number(value.toPrecision(9)) : value,
      )
    expect(round(await answerTo(POLYGON))).toEqual(round(before))
  }

  test('summaries of an older form are not read, and made anew at the next start', async () => {
    const before = await answerTo(POLYGON)
    await summariesOfVersion(SUMMARY_VERSION - 1)
    await expectSameAnswer(before)
    // Of values, and of odds.
    expect(await summariseCoverages(service.database)).toBe(2)
    expect(await answerTo(POLYGON)).toEqual(before)
    const versions = await service.database.reader
      .selectFrom('coverage')
      .select('summary_version')
      .distinct()
      .execute()
    expect(versions).toEqual([{ summary_version: SUMMARY_VERSION }])
  })

  test('summaries of a newer form are not read, and left to the newer version that made them', async () => {
    const before = await answerTo(POLYGON)
    await summariesOfVersion(SUMMARY_VERSION + 1)
    await expectSameAnswer(before)
    expect(await summariseCoverages(service.database)).toBe(0)
  })

  test('summaries that are being made anew are not read, whatever was known of them before', async () => {
    const { writer } = service.database
    const before = await answerTo(POLYGON)
    await writer.updateTable('coverage').set({ summarised: false }).execute()
    await writer.deleteFrom('tile_summary').execute()
    await expectSameAnswer(before)
  })

  test('summaries that have gone are not asked for again until they have been made anew', async () => {
    const { writer } = service.database
    const before = await answerTo(POLYGON)
    await writer.updateTable('coverage').set({ summarised: false }).execute()
    await expectSameAnswer(before)
    // Whoever reads them now gets an error.
    await sql`alter table tile_summary rename to hidden_summary`.execute(writer)
    await expectSameAnswer(before).finally(() =>
      sql`alter table hidden_summary rename to tile_summary`.execute(writer),
    )
    await summariseCoverages(service.database)
    expect(await answerTo(POLYGON)).toEqual(before)
  })
})
