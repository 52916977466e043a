import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { DemoMembers } from '#schemas/service.ts'
import { listCountryEntries, listCountryExtents } from '#src/catalog/reference-queries.ts'
import { listReleases, lockReleases } from '#src/catalog/release-queries.ts'
import type { Config } from '#src/config.ts'
import type { Database } from '#src/data/database.ts'
import type { Db, Trx } from '#src/data/tables.ts'
import { lockWork } from '#src/data/work-lock.ts'
import { OperatorError } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { readShape, type Shape } from '../boundaries/feature.ts'
import { type BoundarySet, findBoundarySets, type StagedArea } from '../boundaries/queries.ts'
import { type CountryBounds, replaceBoundaries } from '../boundaries/replace.ts'
import { loadRelease } from '../load.ts'
import { countryOutline, DEMO_COUNTRIES, OUTLINE_SOURCE } from './outlines.ts'
import { cutByNearestSeat, type SeatPosition } from './queries.ts'
import { DEMO_RELEASES, demoSource } from './source.ts'

/** Processes that seed share this arbitrary number. */
const SEED_LOCK = 7_239_442

/** Releases that are published, of those that the demo has in this database. */
export interface DemoProgress {
  loaded: number
  of: number
}

/** What the demo lacks in a database with its countries and crops; nothing where something real is published. */
async function findMissing(db: Db): Promise<{ missing: typeof DEMO_RELEASES; of: number }> {
  const releases = await listReleases(db)
  if (releases.some(({ publishedAt, synthetic }) => publishedAt && !synthetic)) return { missing: [], of: 0 }
  const countries = await listCountryEntries(db)
  const wanted = DEMO_RELEASES.filter((demo) =>
    countries.some(
      ({ code, crops }) =>
        code === demo.countryCode && (demo.cropCode === null || crops.includes(demo.cropCode)),
    ),
  )
  const missing = wanted.filter(
    (demo) =>
      !releases.some(
        (release) =>
          release.publishedAt &&
          release.product === demo.product.code &&
          release.countryCode === demo.countryCode,
      ),
  )
  return { missing, of: wanted.length }
}

export async function readDemoProgress(db: Db): Promise<DemoProgress> {
  const { missing, of } = await findMissing(db)
  return { loaded: of - missing.length, of }
}

/**
 * Publishes the next release that is missing, after the areas of its country; with the last one, the areas of all. Existing
 * data stay, so the next call goes on where one was interrupted.
 */
export async function seedNext(
  database: Database,
  signal?: AbortSignal,
): Promise<DemoProgress & { isNew: boolean }> {
  const { unlock } = await lockWork(database, SEED_LOCK, signal && { signal })
  try {
    const { missing, of } = await findMissing(database.writer)
    const [next, ...later] = missing
    if (of > 0) await seedAreas(database, later.length > 0 ? next?.countryCode : undefined)
    if (next) await loadRelease(database, demoSource(next), { signal, confirm: refuseBesideReal })
    return { loaded: of - later.length, of, isNew: next !== undefined }
  } finally {
    unlock()
  }
}

/** An operator may have published something since the load began: nothing synthetic takes its place. */
async function refuseBesideReal(trx: Trx): Promise<void> {
  await lockReleases(trx)
  if ((await findMissing(trx)).of > 0) return
  throw new OperatorError('Releases that are not synthetic were published meanwhile.')
}

/**
 * Seeds all of a database without real publications.
 *
 * @returns the number of published releases
 */
export async function seedDemo(
  database: Database,
  progress: (progress: DemoProgress) => void = () => {},
): Promise<number> {
  for (let published = 0; ; published++) {
    const { isNew, ...state } = await seedNext(database)
    if (isNew) progress(state)
    if (state.loaded === state.of) return published + Number(isNew)
  }
}

/** What readiness says of the demo while a part of it is missing. */
export function createDemoReadiness(config: Config) {
  let isWhole = !config.DEMO_DATA
  return {
    schema: DemoMembers,
    async read({ database }: App): Promise<{ demo?: DemoProgress }> {
      if (isWhole) return {}
      const demo = await readDemoProgress(database.reader)
      isWhole = demo.loaded === demo.of
      return isWhole ? {} : { demo }
    },
  }
}

/** Towns as seats of areas: facts, rounded to a kilometre or worse. */
const SEATS = readFileSync(new URL('seats.csv', import.meta.url), 'utf8')

const APPROXIMATE = {
  source:
    'Approximate: nearest-seat areas made by this project from the names and coordinates of towns. Not boundaries.',
  licence: 'CC0-1.0',
}

const LEVELS = [1, 2, 3]

/**
 * Boundaries of operators stay, without approximate areas beside them.
 *
 * @param only the country, where it is not all
 */
export async function seedAreas(database: Database, only?: string): Promise<void> {
  const countries = await listCountryExtents(database.writer)
  const seeded = countries.filter(({ code }) => code in DEMO_COUNTRIES && (only ?? code) === code)
  for (const { code, name, stated: bounds } of seeded) {
    const country = { code, name, bounds }
    const sets = await findBoundarySets(database.writer, country.code)
    if (!sets.has(0)) await seedOutline(database, country)
    if (LEVELS.some((level) => sets.get(level)?.approximate === false)) continue
    if (LEVELS.every((level) => sets.has(level))) continue
    await seedLevels(database, country)
  }
}

async function seedOutline(database: Database, country: CountryBounds): Promise<void> {
  const { wkb } = readShape(countryOutline(country.code)) as Shape
  const code = country.code.toUpperCase()
  await seedLevel(
    database,
    country,
    { ...OUTLINE_SOURCE, countryCode: country.code, level: 0, approximate: false, checksum: 'world-atlas' },
    [{ origin: 'world-atlas', code, name: country.name, parentCode: null, wkb }],
  )
}

async function seedLevels(database: Database, country: CountryBounds): Promise<void> {
  const { seats, names } = readSeats(country.code)
  const areas = await cutByNearestSeat(database.writer, country.code, seats, LEVELS)
  const checksum = createHash('sha256').update(SEATS).digest('hex')
  for (const level of LEVELS) {
    const set = { ...APPROXIMATE, countryCode: country.code, level, approximate: true, checksum }
    const staged = areas
      .filter((area) => area.level === level)
      .map(({ code, wkb }) => ({
        origin: 'seats.csv',
        code,
        name: names.get(code) ?? null,
        parentCode: code.slice(0, code.lastIndexOf('-')),
        wkb,
      }))
    await seedLevel(database, country, set, staged)
  }
}

async function seedLevel(database: Database, country: CountryBounds, set: BoundarySet, areas: StagedArea[]) {
  await replaceBoundaries(database, set, Readable.from(areas), {
    country,
    strict: false,
    dryRun: false,
    dropped: [],
    notes: [],
  })
}

/** Codes count areas within the one above, in the order of the file: RWA-01-02-03. They are this project's own. */
export function readSeats(countryCode: string): { seats: SeatPosition[]; names: Map<string, string> } {
  const names = new Map<string, string>()
  const codes = new Map<string, string>()
  const counts = new Map<string, number>()
  const codeOf = (above: string, name: string): string => {
    const key = `${above} ${name}`
    const stored = codes.get(key)
    if (stored) return stored
    const number = (counts.get(above) ?? 0) + 1
    const code = `${above}-${String(number).padStart(2, '0')}`
    counts.set(above, number)
    codes.set(key, code)
    names.set(code, name)
    return code
  }
  const seats = SEATS.trim()
    .split('\n')
    .map((line) => line.split(','))
    .filter(([country]) => country === countryCode)
    .map(([country, first, second, third, latitude, longitude]) => {
      const above = codeOf(codeOf(String(country).toUpperCase(), String(first)), String(second))
      return {
        code: codeOf(above, String(third)),
        latitude: Number(latitude),
        longitude: Number(longitude),
      }
    })
  return { seats, names }
}
