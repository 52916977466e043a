import { copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { fixture, kindFixture, type LayerText, manifestText, writeManifest } from '#test/ingest/fixtures.ts'
import { createTestDatabase } from '#test/setup/database.ts'
import { newFolder } from '#test/setup/folders.ts'
import { transcribe } from '#test/setup/transcript.ts'

test('releases are loaded, published, withdrawn and deleted from an empty database on, as the transcript has it', async () => {
  const folder = await newFolder()
  const testDatabase = await createTestDatabase('empty')
  onTestFinished(() => testDatabase.drop())
  await mkdir(join(folder, 'rasters'))
  await copyFile(fixture('bands-nodata.tif'), join(folder, 'rasters/season.tif'))
  /** They cover little of their country. */
  const manifest = (name: string, layers: LayerText[], settings = {}) =>
    writeManifest(folder, manifestText(layers, { allow: ['extent'], ...settings }), name)
  await manifest('season.yaml', [
    { file: 'rasters/season.tif', band: 1, scenario: 'Normal' },
    { file: './rasters/season.tif', band: 2, scenario: 'Dominant' },
  ])
  await manifest('synthetic.yaml', [{ file: 'rasters/season.tif' }], { synthetic: true })
  await manifest('other.yaml', [
    { file: fixture('crs-32637.tif'), scenario: 'Normal' },
    { file: fixture('zeros.tif'), scenario: 'Below Normal', scale: 10, offset: 1 },
  ])
  const jpeg = [{ file: kindFixture('jpeg.tif') }]
  await manifest('lossy.yaml', jpeg, { lossy: true, forecast_period: '2024-01' })
  await manifest('february.yaml', [{ file: 'rasters/season.tif' }], { forecast_period: '2025-02' })
  const said = await transcribe(
    testDatabase,
    `
    migrate
    migrate --json
    releases list
    ingest FOLDER/none.yaml
    ingest FOLDER/season.yaml
    ingest FOLDER/season.yaml
    ingest --force --no-publish FOLDER/season.yaml
    releases list
    ingest FOLDER/synthetic.yaml
    ingest --dry-run FOLDER/other.yaml
    releases list
    releases publish SERIES-v2
    releases rollback SERIES-v2
    releases delete SERIES-v1 --yes
    releases delete SERIES-v2
    releases delete SERIES-v2 --yes
    releases rollback SERIES-v1
    releases rollback SERIES-v1 --yes
    releases rollback SERIES-v1 --yes
    ingest --no-publish FOLDER/season.yaml
    ingest FOLDER/season.yaml --json
    ingest --force FOLDER/season.yaml --json
    ingest --force --no-publish FOLDER/season.yaml
    ingest --force --no-publish FOLDER/season.yaml
    ingest --force --no-publish FOLDER/season.yaml
    ingest --no-publish FOLDER/february.yaml
    releases prune --keep 2 --dry-run
    releases prune --keep 2
    releases prune --keep 0 --yes --json
    releases prune --keep 0
    releases rollback SERIES-v3
    releases list
    audit --kind release_withdrawn
    ingest FOLDER/lossy.yaml --allow month,range
    releases show yield-eth-wheat-2024-01-v1
    `,
    { FOLDER: folder, SERIES: 'yield-eth-wheat-2025-01' },
  )
  await expect(said).toMatchFileSnapshot('transcripts/releases.txt')
})
