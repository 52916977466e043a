import { expect, onTestFinished, test } from 'vitest'
import { writeField } from '#test/ingest/checks/rasters.ts'
import { manifestText, writeManifest } from '#test/ingest/fixtures.ts'
import { createTestDatabase } from '#test/setup/database.ts'
import { newFolder } from '#test/setup/folders.ts'
import { transcribe } from '#test/setup/transcript.ts'

test('countries, crops, ranges and compositions are listed and changed as the transcript has it', async () => {
  const testDatabase = await createTestDatabase('empty')
  onTestFinished(() => testDatabase.drop())
  const folder = await newFolder()
  await writeField(folder, 'yields.tif', () => 2500)
  await writeManifest(folder, manifestText([{ file: 'yields.tif' }]))
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
