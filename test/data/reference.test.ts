import { createHash } from 'node:crypto'
import { cp, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import {
  COUNTRIES,
  findKeys,
  listCountryEntries,
  listCountryNames,
  listCropEntries,
} from '#src/catalog/reference-queries.ts'
import type { Database } from '#src/data/database.ts'
import { migrate } from '#src/data/migrate.ts'
import { REFERENCE_FILE, readReference } from '#src/data/reference.ts'
import { OperatorError } from '#src/errors.ts'
import { seedDemo } from '#src/ingest/demo/seed.ts'
import { insertRelease } from '#src/ingest/queries.ts'
import { openTestDatabase } from '#test/setup/database.ts'
import { newFolder } from '#test/setup/folders.ts'
import { releaseDescription } from '#test/setup/releases.ts'

// Runs on a server alone: files of reference data are the subject.

test('a reference file is refused where its schema does', async () => {
  const refused = readReference(await scriptsWith('crops: []\ncountries: [{ code: KEN, name: Kenya }]'))
  const what = ': /countries/0/code: must match pattern "^[a-z]{3}$".'
  await expect(refused).rejects.toThrow(new OperatorError(`${REFERENCE_FILE} is not valid${what}`))
})

const OTHER = `
crops: [{ code: maize, name: Maize, aliases: [Corn] }, { code: wheat, name: Wheat }]
countries:
  - { code: tza, name: Tanzania, aliases: [TZ, Tanzanie], crops: [maize, wheat] }
  - { code: ken, name: Kenya, extent: [33.8, -4.8, 42, 5.6] }
`

test('a new database has the countries and crops of the file, no other ones, and only once', async () => {
  const database = await newDatabase()
  const { writer } = database
  // What cannot be applied leaves nothing.
  const unlisted = await scriptsWith(OTHER.replace('maize, wheat]', 'maize, teff]'))
  await expect(migrate(writer, unlisted)).rejects.toThrow(/could not be applied: .*violates foreign key/)
  const folder = await scriptsWith(OTHER)
  expect(await migrate(writer, folder)).toContain(REFERENCE_FILE)
  expect(await listCountryEntries(writer)).toEqual([
    { code: 'ken', name: 'Kenya', aliases: [], crops: [], levels: [], extent: [33.8, -4.8, 42, 5.6] },
    {
      code: 'tza',
      name: 'Tanzania',
      aliases: ['tanzanie', 'tz'],
      crops: ['maize', 'wheat'],
      levels: [],
      extent: null,
    },
  ])
  expect(await listCropEntries(writer)).toEqual([
    { code: 'maize', name: 'Maize', aliases: ['corn'], countries: ['tza'] },
    { code: 'wheat', name: 'Wheat', aliases: [], countries: ['tza'] },
  ])
  expect((await listCountryNames(writer)).map(({ code }) => code)).toEqual(['tza', 'ken'])

  await writer.deleteFrom('country_crop').execute()
  expect(await migrate(writer, folder)).toEqual([])
  expect((await listCropEntries(writer)).flatMap(({ countries }) => countries)).toEqual([])
})

/** What a version of the service did that knew no reference file. */
async function migrateAsBefore({ writer }: Database): Promise<void> {
  await sql`
    create table applied_script (
      kind text, name text, checksum text, applied_at timestamptz default now(), primary key (kind, name)
    )`.execute(writer)
  const names = (await readdir('sql/migrations')).filter((name) => name < '0006').sort()
  for (const name of names) {
    const text = await readFile(join('sql/migrations', name), 'utf8')
    await sql.raw(text).execute(writer)
    const checksum = createHash('sha256').update(text).digest('hex')
    await sql`insert into applied_script (kind, name, checksum) values ('migration', ${name}, ${checksum})`.execute(
      writer,
    )
  }
}

test('a database that is not new keeps its countries and crops, and the demo goes on without those it lacks', async () => {
  const database = await newDatabase()
  const { writer } = database
  await migrateAsBefore(database)
  for (const table of ['country_alias', 'country_crop']) {
    await sql`delete from ${sql.table(table)} where country_code <> 'ken'`.execute(writer)
  }
  await sql`delete from country where code in ('gha', 'rwa')`.execute(writer)
  await sql`insert into country values ('abw', 'Aruba', -70.1, 12.4, -69.8, 12.7)`.execute(writer)

  expect(await migrate(writer)).not.toContain(REFERENCE_FILE)
  expect(await listCountryNames(writer)).toEqual([
    { code: 'eth', name: 'Ethiopia' },
    { code: 'ken', name: 'Kenya' },
    { code: 'abw', name: 'Aruba' },
  ])
  expect((await findKeys(writer, COUNTRIES)).get('aruba')?.code).toBe('abw')

  // A load of an operator that was cut off is neither a publication nor there.
  await insertRelease(
    writer,
    releaseDescription({ product: 'forage', countryCode: 'ken', cropCode: null, forecastPeriod: null }),
  )
  // Forage in the two that the demo has.
  expect(await seedDemo(database, () => {})).toBe(2)
  const entries = await listCountryEntries(writer)
  expect(entries.map(({ code, levels }) => [code, levels])).toEqual([
    ['abw', []],
    ['eth', [0, 1, 2, 3]],
    ['ken', [0, 1, 2, 3]],
  ])
  expect(await seedDemo(database, () => {})).toBe(0)
})

async function newDatabase(): Promise<Database> {
  const { database, close } = await openTestDatabase('new')
  onTestFinished(close)
  return database
}

async function scriptsWith(reference: string): Promise<URL> {
  const folder = await newFolder()
  await cp('sql', folder, { recursive: true })
  await writeFile(join(folder, REFERENCE_FILE), reference)
  return pathToFileURL(`${folder}/`)
}
