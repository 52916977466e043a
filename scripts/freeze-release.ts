/**
 * Freezes a released version in `test/released`: `releases.json` gets the checksums of its section of the CHANGELOG and of its
 * migrations, `VERSION.sql` the statements that it sends. `test/data/released.test.ts` holds later versions to both.
 *
 *     RECORD_STATEMENTS=FILE npx vitest run --project server
 *     DATABASE_URL=URL node bin/run.mjs scripts/freeze-release.ts FILE
 *
 * The URL is that of a database that `agro migrate` of this version has made.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { VERSION } from '#src/lib/version.ts'
import { tryStatements } from '#test/setup/prepared-statements.ts'
import { describeVersion, RELEASED, releases, statementsText } from '#test/setup/released.ts'
import type { SentStatement } from '#test/setup/sent-statements.ts'

const [file] = process.argv.slice(2)
if (!file) throw new Error('name the file of the recorded statements')

const sent = (JSON.parse(readFileSync(file, 'utf8')) as SentStatement[]).map(({ text }) => text)
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 1 })
const taken = await tryStatements(pool, sent)
await pool.end()

const prepared: string[] = []
for (const text of sent.filter((one) => !/^\s*(?:declare|copy|create) /i.test(one)).sort()) {
  const answer = taken.get(text)
  if (answer && 'types' in answer) prepared.push(text)
  else console.error(`left out: ${answer?.error}\n  ${text.trim().slice(0, 200)}`)
}

writeFileSync(join(RELEASED, `${VERSION}.sql`), statementsText(prepared))
writeFileSync(
  join(RELEASED, 'releases.json'),
  `${JSON.stringify({ ...releases, [VERSION]: await describeVersion(VERSION) }, null, 2)}\n`,
)
console.log(`${prepared.length} statements of ${VERSION}`)
