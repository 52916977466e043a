// Runs on a server alone: each command opens the database, and the words are the same on both.
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { boundaryFile, feature, rectangle } from '#test/setup/boundaries.ts'
import { createTestDatabase } from '#test/setup/database.ts'
import { transcribe } from '#test/setup/transcript.ts'

test('files of boundaries are inspected and loaded as the transcript has it', async () => {
  const testDatabase = await createTestDatabase('empty')
  onTestFinished(() => testDatabase.drop())
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
