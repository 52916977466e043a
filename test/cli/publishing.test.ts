// Runs on a server alone: ingest/checks/statements.test.ts tries the statements on the embedded database.
import { expect, onTestFinished, test } from 'vitest'
import { openCluster } from '#src/data/client.ts'
import { smooth, writeField } from '#test/ingest/checks/rasters.ts'
import { manifestText, writeManifest } from '#test/ingest/fixtures.ts'
import { boundaryFile, feature, rectangle } from '#test/setup/boundaries.ts'
import { createTestDatabase, type TestDatabase } from '#test/setup/database.ts'
import { newFolder } from '#test/setup/folders.ts'
import { transcribe } from '#test/setup/transcript.ts'

/** A database and a folder with a raster of plausible values, and how manifests of it are written. */
async function prepare() {
  const testDatabase = await createTestDatabase('empty')
  onTestFinished(() => testDatabase.drop())
  const folder = await newFolder()
  await writeField(folder, 'good.tif')
  const manifest = (name: string, month: string, layer = {}, settings = {}) => {
    const text = manifestText([{ file: 'good.tif', ...layer }], { forecast_period: month, ...settings })
    return writeManifest(folder, text, `${name}.yaml`)
  }
  return { testDatabase, folder, manifest }
}

/** As before summaries are made. */
async function forgetSummaries({ config }: TestDatabase): Promise<void> {
  const cluster = await openCluster(config)
  const database = cluster.connect()
  await database.writer.updateTable('coverage').set({ summarised: false }).execute()
  await database.close()
  await cluster.close()
}

test('what the checks find keeps a release from being published until it is allowed, as the transcript has it', async () => {
  const { testDatabase, folder, manifest } = await prepare()
  await writeField(folder, 'elsewhere.tif', smooth, { west: -15 })
  await manifest('elsewhere', '2025-01', { file: 'elsewhere.tif' })
  await manifest('wrong-unit', '2025-01', { scale: 100 })
  await manifest('allowed', '2025-01', { scale: 100 }, { allow: ['range'], source: 'Another' })
  await manifest('february', '2025-02')
  await manifest('february-again', '2025-02', {}, { source: 'Another' })
  await manifest('march', '2025-03')
  await manifest('april', '2025-04')
  await manifest('noted', '2025-05', { srid: 4258 })
  await manifest('june', '2025-06')
  await manifest('unknown', '2025-07', {}, { allow: ['months'] })
  const names = { FOLDER: folder, SERIES: 'yield-eth-wheat-2025' }
  const said = await transcribe(
    testDatabase,
    `
    ingest FOLDER/elsewhere.yaml --json
    releases list
    ingest FOLDER/wrong-unit.yaml
    releases publish SERIES-01-v1
    releases list
    releases publish SERIES-01-v1 --allow range
    audit --kind release_published
    releases show SERIES-01-v1
    releases show none
    ingest FOLDER/allowed.yaml --no-publish
    releases publish SERIES-01-v2
    releases rollback SERIES-01-v2
    ingest FOLDER/february.yaml
    ingest FOLDER/february-again.yaml
    ingest FOLDER/march.yaml --no-publish
    ingest FOLDER/april.yaml
    releases publish SERIES-03-v1 --json
    releases rollback SERIES-02-v2
    ingest FOLDER/noted.yaml --dry-run
    ingest FOLDER/noted.yaml --dry-run --strict --allow 'extent, reading'
    ingest FOLDER/noted.yaml --strict
    ingest FOLDER/noted.yaml --no-publish
    releases publish SERIES-05-v1 --strict
    releases publish SERIES-05-v1 --strict --allow reading
    ingest FOLDER/june.yaml --no-publish
    ingest FOLDER/unknown.yaml
    ingest FOLDER/june.yaml --allow range,months
    releases list
    `,
    names,
  )
  await forgetSummaries(testDatabase)
  const unsummarised = await transcribe(
    testDatabase,
    `
    releases publish SERIES-06-v1 --strict
    releases publish SERIES-06-v1
    `,
    names,
  )
  await expect(said + unsummarised).toMatchFileSnapshot('transcripts/checks.txt')
})

test('a release that changes a mean by more than --max-change is not published, as the transcript has it', async () => {
  const { testDatabase, folder, manifest } = await prepare()
  for (const factor of [1, 1.3, 4]) {
    const file = `times-${factor}.tif`
    await writeField(folder, file, (row, column) => smooth(row, column) * (column < 75 ? 1 : factor))
    await manifest(`times-${factor}`, '2025-01', { file })
  }
  const country = feature({ code: 'ETH', name: 'Ethiopia' }, rectangle(33, 3.5, 48, 15))
  const areas = [
    feature({ code: 'W', name: 'West' }, rectangle(33, 3.5, 40.5, 15)),
    feature({ code: 'E', name: 'East' }, rectangle(40.5, 3.5, 48, 15)),
  ]
  const said = await transcribe(
    testDatabase,
    `
    boundaries COUNTRY --country eth --level 0
    boundaries AREAS --country eth --level 1
    ingest FOLDER/times-1.yaml --max-change 0%
    ingest FOLDER/times-1.3.yaml --max-change 25%
    releases list
    releases publish SERIES-v2 --max-change 25 --json
    releases list
    releases publish SERIES-v2 --max-change 30.1%
    ingest FOLDER/times-4.yaml
    releases list
    `,
    {
      FOLDER: folder,
      SERIES: 'yield-eth-wheat-2025-01',
      COUNTRY: await boundaryFile([country]),
      AREAS: await boundaryFile(areas),
    },
  )
  await expect(said).toMatchFileSnapshot('transcripts/max-change.txt')
})
