// Runs on a server alone: each command opens the database, and the words are the same on both.
import { copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { smooth, writeField } from '#test/ingest/checks/rasters.ts'
import { fixture, kindFixture, type LayerText, manifestText, writeManifest } from '#test/ingest/fixtures.ts'
import { boundaryFile, feature, rectangle } from '#test/setup/boundaries.ts'
import { createTestDatabase, type TestDatabase, withDatabase } from '#test/setup/database.ts'
import { newFolder } from '#test/setup/folders.ts'
import { transcribe } from '#test/setup/transcript.ts'

let testDatabase: TestDatabase
let folder: string
beforeEach(async () => {
  folder = await newFolder()
  testDatabase = await createTestDatabase('empty')
  return () => testDatabase.drop()
})

test('files of boundaries are inspected and loaded as the transcript has it', async () => {
  const [there, swapped] = [rectangle(37, 8, 38, 9), rectangle(8, 37, 9, 38)]
  const ofNoSource = [feature({ a: null }, there), feature({ a: 'x'.repeat(50), b: 1 }, there)]
  const said = await transcribe(
    testDatabase,
    `
    boundaries inspect FIXTURES/shapes.gpkg
    boundaries inspect OF-NO-SOURCE FIXTURES/encoding-unlabelled-1252.zip --json
    boundaries inspect FIXTURES/layers.gpkg
    boundaries inspect FIXTURES/layers.gpkg --layer no_srs
    boundaries SWAPPED --country eth --level 1
    boundaries REGION.gone --country eth --level 1
    boundaries REGION --country eth --level 4
    boundaries REGION --country Ethiopia --level 1 --source OCHA --licence 'CC BY-IGO'
    boundaries REGION --country Ethiopia --level 1 --source OCHA --licence 'CC BY-IGO'
    boundaries REGION --country Ethiopia --level 1
    boundaries FIXTURES/encoding-unlabelled-1252.zip --country eth --level 1 --strict
    boundaries FIXTURES/encoding-unlabelled-1252.zip --country eth --level 1 --encoding klingon
    boundaries FIXTURES/encoding-unlabelled-1252.zip --country eth --level 1 --json
    boundaries FIXTURES/encoding-unlabelled-1252.zip --country eth --level 1 --encoding windows-1252 --strict
    `,
    {
      FIXTURES: join(import.meta.dirname, '../fixtures/boundaries'),
      'OF-NO-SOURCE': await boundaryFile(ofNoSource),
      SWAPPED: await boundaryFile([feature({ code: 'A', name: 'Region A' }, swapped)]),
      REGION: await boundaryFile([feature({ code: 'A', name: 'Region A' }, there)]),
    },
  )
  await expect(said).toMatchFileSnapshot('transcripts/boundaries.txt')
})

test('countries, crops, ranges and compositions are listed and changed as the transcript has it', async () => {
  await writeField(folder, 'yields.tif', () => 2500)
  await manifest('manifest', [{ file: 'yields.tif' }])
  const said = await transcribe(
    testDatabase,
    `
    countries add tza Tanzania
    countries alias tza TZ Tanganyika
    countries alias --remove tza Tanganyika
    crops add maize Maize --json
    crops offer Tanzania maize
    crops rename maize Corn
    countries list
    crops list --json
    countries remove tza --yes
    countries remove gha
    crops remove wheat
    countries withdraw tza maize
    countries remove tza --yes
    ranges list
    ranges set yield 0 15000 --crop wheat
    ranges set yield 0 2000 --crop wheat
    ranges set yield 0 50000
    ranges list --json
    ingest FOLDER/manifest.yaml --dry-run
    ranges remove yield --crop wheat
    ingest FOLDER/manifest.yaml --dry-run
    ranges set yield 0 1000
    ingest FOLDER/manifest.yaml --dry-run
    ranges remove yield
    ingest FOLDER/manifest.yaml --dry-run
    ranges set lime 0 1
    ranges set yield 0 many
    ranges set yield 2 1
    ranges set yield 0 1 --crop rice
    ranges set forage 0 1 --crop wheat
    ranges remove isfm
    compositions list
    compositions set nps 18.9 37.7 0 6.95
    compositions remove DAP
    compositions list
    compositions remove DAP
    compositions set X 60 60 0
    audit --kind reference_changed
    `,
    { FOLDER: folder },
  )
  await expect(said).toMatchFileSnapshot('transcripts/reference.txt')
})

test('releases are loaded, published, withdrawn and deleted from an empty database on, as the transcript has it', async () => {
  await mkdir(join(folder, 'rasters'))
  await copyFile(fixture('bands-nodata.tif'), join(folder, 'rasters/season.tif'))
  /** They cover little of their country. */
  const small = (name: string, layers: LayerText[], settings = {}) =>
    manifest(name, layers, { allow: ['extent'], ...settings })
  await small('season', [
    { file: 'rasters/season.tif', band: 1, scenario: 'Normal' },
    { file: './rasters/season.tif', band: 2, scenario: 'Dominant' },
  ])
  await small('synthetic', [{ file: 'rasters/season.tif' }], { synthetic: true })
  await small('other', [
    { file: fixture('crs-32637.tif'), scenario: 'Normal' },
    { file: fixture('zeros.tif'), scenario: 'Below Normal', scale: 10, offset: 1 },
  ])
  const jpeg = [{ file: kindFixture('jpeg.tif') }]
  await small('lossy', jpeg, { lossy: true, forecast_period: '2024-01' })
  await small('february', [{ file: 'rasters/season.tif' }], { forecast_period: '2025-02' })
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

test('what the checks find keeps a release from being published until it is allowed, as the transcript has it', async () => {
  await writeField(folder, 'good.tif')
  await writeField(folder, 'elsewhere.tif', smooth, { west: -15 })
  await goodManifest('elsewhere', '2025-01', { file: 'elsewhere.tif' })
  await goodManifest('wrong-unit', '2025-01', { scale: 100 })
  await goodManifest('allowed', '2025-01', { scale: 100 }, { allow: ['range'], source: 'Another' })
  await goodManifest('february', '2025-02')
  await goodManifest('february-again', '2025-02', {}, { source: 'Another' })
  await goodManifest('march', '2025-03')
  await goodManifest('april', '2025-04')
  await goodManifest('noted', '2025-05', { srid: 4258 })
  await goodManifest('june', '2025-06')
  await goodManifest('unknown', '2025-07', {}, { allow: ['months'] })
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
  // As before summaries are made.
  await withDatabase(testDatabase, ({ writer }) =>
    writer.updateTable('coverage').set({ summarised: false }).execute(),
  )
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
  await writeField(folder, 'good.tif')
  for (const factor of [1, 1.3, 4]) {
    const file = `times-${factor}.tif`
    await writeField(folder, file, (row, column) => smooth(row, column) * (column < 75 ? 1 : factor))
    await goodManifest(`times-${factor}`, '2025-01', { file })
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

/** Writes a manifest of layers, by its name without the ending. */
const manifest = (name: string, layers: LayerText[], settings = {}) =>
  writeManifest(folder, manifestText(layers, settings), `${name}.yaml`)

/** A manifest of a raster of plausible values. */
const goodManifest = (name: string, month: string, layer = {}, settings = {}) =>
  manifest(name, [{ file: 'good.tif', ...layer }], { forecast_period: month, ...settings })
