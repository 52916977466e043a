import { expect, onTestFinished, test } from 'vitest'
import { publishNextDue } from '#src/catalog/schedule-queries.ts'
import { publishDue } from '#src/ingest/publish.ts'
import { smooth, writeField } from '#test/ingest/checks/rasters.ts'
import { manifestText, writeManifest } from '#test/ingest/fixtures.ts'
import { createTestDatabase, type TestDatabase, withDatabase } from '#test/setup/database.ts'
import { examine } from '#test/setup/examination.ts'
import { newFolder } from '#test/setup/folders.ts'
import { transcribe } from '#test/setup/transcript.ts'

test('releases are scheduled, and the operator is told what came of it, as the transcript has it', async () => {
  const testDatabase = await createTestDatabase('empty')
  onTestFinished(() => testDatabase.drop())
  const folder = await newFolder()
  await writeField(folder, 'first.tif', smooth)
  await writeField(folder, 'second.tif', (row, column) => smooth(row, column) + 10)
  for (const [name, month] of ['first 2025-07', 'second 2025-07', 'first 2025-08', 'second 2025-08'].map(
    (words) => words.split(' ') as [string, string],
  )) {
    const text = manifestText([{ file: `${name}.tif` }], { forecast_period: month })
    await writeManifest(folder, text, `${name}-${month}.yaml`)
  }
  const names = { FOLDER: folder, FIRST: 'yield-eth-wheat-2025-07-v1', SECOND: 'yield-eth-wheat-2025-07-v2' }
  const parts: string[] = []
  const run = async (commands: string) => parts.push(await transcribe(testDatabase, commands, names))
  const doctor = async () => (await examine(testDatabase)).of('releases scheduled')

  await run(`
    ingest FOLDER/first-2025-07.yaml
    ingest FOLDER/second-2025-07.yaml --no-publish
    releases schedule SECOND --at 2026-07-01T06:00Z
    releases schedule FIRST --at 2099-12-01T06:00Z
    releases schedule x --at 2099-12-01T06:00Z
    releases unschedule SECOND
    releases schedule SECOND --at 2099-12-01T09:00+03:00
    releases list
    releases show SECOND
  `)
  const code = names.SECOND
  expect(await doctor()).toEqual([['ok', `${code} is to be published at 2099-12-01 06:00 UTC.`]])
  await run(`
    releases unschedule SECOND --json
    releases list
  `)
  expect(await doctor()).toEqual([['ok', 'No release waits for its time.']])

  await run('releases schedule SECOND --at 2099-12-01')
  await letTimePass(testDatabase)
  const overdue = `${code} is to be published at 2026-07-01 06:00 UTC, which has passed: no service has done so.`
  expect(await doctor()).toEqual([['warning', overdue]])
  await letTimePass(testDatabase, { serviceRuns: true })
  await run(`
    releases show FIRST
    releases show SECOND
    releases rollback SECOND
    releases show FIRST
    releases show SECOND
    ingest FOLDER/first-2025-08.yaml
    releases schedule SECOND --at 2099-12-01T06:00Z
    releases schedule SECOND --at 2099-12-01T06:00Z --allow month
  `)
  await letTimePass(testDatabase, { serviceRuns: true })
  const refusal = 'month: The month 2025-07 is older than 2025-08, which is published'
  expect(await doctor()).toEqual([['warning', expect.stringContaining(`UTC: ${refusal}`)]])
  await run(`
    releases list
    releases show SECOND
    releases unschedule SECOND
    releases list
    ingest FOLDER/second-2025-08.yaml --publish-at 2026-07-01
    ingest FOLDER/second-2025-08.yaml --publish-at 2099-12-01T06:00Z
    releases list
    ingest FOLDER/second-2025-08.yaml --publish-at 2099-12-02 --json
    ingest FOLDER/second-2025-08.yaml --publish-at 2099-12-01 --max-change 25%
    releases list
  `)
  await expect(parts.join('')).toMatchFileSnapshot('transcripts/schedule.txt')
})

/** Has the time of what is scheduled come, with nothing allowed; a service that runs then looks for what is due. */
const letTimePass = (testDatabase: TestDatabase, { serviceRuns = false } = {}) =>
  withDatabase(testDatabase, async ({ pool, writer }) => {
    await pool.query(`update scheduled_publication set publish_at = '2026-07-01T06:00Z', allowed = '{}'`)
    if (serviceRuns) await publishNextDue(writer, publishDue, [])
  })
