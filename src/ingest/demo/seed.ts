import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { listCountryEntries, listCountryExtents } from '#src/catalog/reference-queries.ts'
import { listReleases } from '#src/catalog/release-queries.ts'
import type { Database } from '#src/data/database.ts'
import { lockWork } from '#src/data/work-lock.ts'
import { readShape, type Shape } from '../boundaries/feature.ts'
import { type BoundarySet, findBoundarySets, type StagedArea } from '../boundaries/queries.ts'
import { type CountryBounds, replaceBoundaries } from '../boundaries/replace.ts'
import { loadRelease } from '../load.ts'
import { countryOutline, DEMO_COUNTRIES, OUTLINE_SOURCE } from './outlines.ts'
import { cutByNearestSeat, type SeatPosition } from './queries.ts'
import { DEMO_RELEASES, demoSource } from './source.ts'

/** Processes that seed share this arbitrary number. */
const SEED_LOCK = 7_239_442

/**
 * Seeds only databases without real publications, with their countries and crops. Existing data stay, so the next call
 * completes an interrupted one.
 *
 * @returns the number of published releases
 */
export async function seedDemo(
  database: Database,
  progress: (done: number, of: number) => void,
): Promise<number> {
  const { unlock } = await lockWork(database, SEED_LOCK)
  try {
    const releases = await listReleases(database.writer)
    if (releases.some(({ publishedAt, synthetic }) => publishedAt && !synthetic)) return 0
    const countries = await listCountryEntries(database.writer)
    const missing = DEMO_RELEASES.filter(
      (demo) =>
        countries.some(
          ({ code, crops }) =>
            code === demo.countryCode && (demo.cropCode === null || crops.includes(demo.cropCode)),
        ) &&
        !releases.some(
          (release) =>
            release.publishedAt &&
            release.product === demo.product.code &&
            release.countryCode === demo.countryCode,
        ),
    )
    await seedAreas(database)
    for (const [index, release] of missing.entries()) {
      await loadRelease(database, demoSource(release))
      progress(index + 1, missing.length)
    }
    return missing.length
  } finally {
    unlock()
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

/** Boundaries of operators stay, without approximate areas beside them. */
export async function seedAreas(database: Database): Promise<void> {
  const countries = await listCountryExtents(database.writer)
  for (const { code, name, stated: bounds } of countries.filter((one) => one.code in DEMO_COUNTRIES)) {
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
