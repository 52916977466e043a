/**
 * Freezes a released version in `test/released`: `releases.json` gets the checksums of its section of the CHANGELOG and of its
 * migrations, `VERSION.sql` the statements that it sends. `test/data/released.test.ts` holds later versions to both.
 *
 *     RECORD_STATEMENTS=FOLDER npx vitest run --project server
 *     DATABASE_URL=URL node bin/run.mjs scripts/freeze-release.ts FOLDER
 *
 * The URL is that of a database that `agro migrate` of this version has made.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { VERSION } from '#src/lib/version.ts'
import { describeVersion, RELEASED, releases, statementsText } from '#test/setup/released.ts'

const [folder] = process.argv.slice(2)
if (!folder) throw new Error('name the folder of the recorded statements')

const sent = new Set(
  readdirSync(folder).flatMap((file) =>
    readFileSync(join(folder, file), 'utf8')
      .split('\n')
      .flatMap((line) => (line ? (JSON.parse(line) as string) : [])),
  ),
)

const source = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => spaced(readFileSync(join('src', file), 'utf8')))
  .join('\n')

function spaced(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}

/** Lists of any length are one statement. */
function shapeOf(text: string): string {
  return spaced(text)
    .replaceAll(/\$\d+/g, '$')
    .replaceAll(/\$(?:, \$)+/g, '$')
    .replaceAll(/(\([^()]*\$[^()]*\))(?:, \1)+/g, '$1')
}

/**
 * Tests send statements of their own: those that a program made have quotation marks, others begin as in a file of `src`. Of
 * several statements in one text the first alone would be prepared, and the others run.
 */
const isOfSource = (text: string) =>
  !/;\s*\S/.test(text) && (/^\w+ (?:into |from )?"/.test(text) || source.includes(spaced(text).slice(0, 28)))

const shortest = new Map<string, string>()
for (const text of [...sent].filter(isOfSource).sort((a, b) => b.length - a.length))
  shortest.set(shapeOf(text), text)

const client = new pg.Client(process.env.DATABASE_URL)
await client.connect()
const prepared: string[] = []
for (const text of [...shortest.values()].sort()) {
  try {
    await client.query(`prepare statement as ${text}`)
    await client.query('deallocate statement')
    prepared.push(text)
  } catch (error) {
    console.error(`left out: ${(error as Error).message}\n  ${spaced(text).slice(0, 200)}`)
  }
}
await client.end()

writeFileSync(join(RELEASED, `${VERSION}.sql`), statementsText(prepared))
writeFileSync(
  join(RELEASED, 'releases.json'),
  `${JSON.stringify({ ...releases, [VERSION]: await describeVersion(VERSION) }, null, 2)}\n`,
)
console.log(`${prepared.length} statements of ${VERSION}`)
