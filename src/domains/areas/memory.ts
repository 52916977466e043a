import type { Kysely } from 'kysely'
import { LRUCache } from 'lru-cache'
import { LEVELS_BELOW } from '#schemas/areas.ts'
import type { Database } from '#src/database/client.ts'
import type { Tables } from '#src/database/tables.ts'
import { createFreshValue } from '#src/lib/fresh-value.ts'
import { nameKey } from '#src/lib/name-key.ts'
import type { Wait } from '#src/lib/patience.ts'
import {
  type AreaFilter,
  type AreaRow,
  type CountryWithSets,
  listAreas,
  listCountriesWithSets,
} from './queries.ts'
import { type AreaSource, storedAreas } from './source.ts'

/** What areas may take of the memory of a process. */
interface AreaRoom {
  /** Areas of one level that are read at once. */
  areasOfLevel: number
  /** Of all levels, about. */
  bytes: number
}

const ROOM: AreaRoom = { areasOfLevel: 50_000, bytes: 32 * 2 ** 20 }

/** What an area takes beside its texts, about. */
const BYTES_OF_AREA = 300

/** All areas of a level of a country, in the order of their codes. */
interface Level {
  /** Which boundaries they are of. */
  version: string
  /** Null where they are too many to be kept. */
  areas: AreaRow[] | null
}

/** How a request waits. */
export interface Waits {
  /** For what all ask for together. */
  wait: Wait
  /** For what takes a connection of its own. */
  waitInTurn: Wait
}

/**
 * Makes what keeps areas in memory, without their shapes.
 *
 * @param maxAgeMs how old what is known of the countries, and of which boundaries are loaded, may be
 */
export function createAreaMemory(
  { reader, standsStill }: Pick<Database, 'reader' | 'standsStill'>,
  maxAgeMs: number,
  room = ROOM,
): (waits: Waits) => AreaSource {
  const stored = storedAreas(reader)
  const levels = createLevels(reader, room)
  let latest: CountryWithSets[] | undefined
  const fresh = createFreshValue(async () => {
    latest = await listCountriesWithSets(reader)
    return latest
  }, maxAgeMs)
  // While nothing can change, nothing grows too old.
  const countries = () => (latest && standsStill() ? Promise.resolve(latest) : fresh())

  return ({ wait, waitInTurn }) => {
    /** Null where they are too many to be kept, or others are being loaded. */
    async function areasOf(countryCode: string, level: number): Promise<AreaRow[] | null> {
      const version = versionOf(await wait(countries), countryCode, level)
      const known = levels.get(countryCode, level, version)
      return known === undefined ? waitInTurn(() => levels.read(countryCode, level, version)) : known
    }

    return {
      async country(name, level) {
        const found = countryNamed(await wait(countries), nameKey(name))
        if (!found) return undefined
        return {
          code: found.code,
          name: found.name,
          levels: found.sets.map((set) => set.level),
          version: found.sets
            .filter((set) => set.level <= level)
            .map(({ checksum }) => checksum)
            .join(' '),
        }
      },
      countryCodes: async () => (await wait(countries)).map(({ code }) => code),
      async hasAreaAbove(country, level, code) {
        for (const above of country.levels.filter((one) => one < level)) {
          const areas = await areasOf(country.code, above)
          if (!areas) return waitInTurn(() => stored.hasAreaAbove(country, level, code))
          if (areas.some((area) => area.code === code)) return true
        }
        return false
      },
      async page(filter) {
        const areas = await areasOf(filter.countryCode, filter.level)
        return areas ? pageOf(areas, filter) : waitInTurn(() => stored.page(filter))
      },
    }
  }
}

/** Keeps levels; those that were not asked for the longest make room. */
function createLevels(db: Kysely<Tables>, { areasOfLevel, bytes }: AreaRoom) {
  const levels = new LRUCache<string, Level>({ maxSize: bytes, sizeCalculation: sizeOf })
  const underWay = new Map<string, Promise<AreaRow[] | null>>()

  async function read(countryCode: string, level: number, version: string): Promise<AreaRow[] | null> {
    const filter = {
      countryCode,
      level,
      parent: null,
      after: null,
      limit: areasOfLevel,
      geometry: 'none',
    } as const
    // Of one source: a replica may not have what the writer says is loaded.
    return db.connection().execute(async (source) => {
      const found = await listAreas(source, filter)
      const countries = await listCountriesWithSets(source)
      if (versionOf(countries, countryCode, level) !== version) return null
      const isKept = !found.at(-1)?.more && sizeOf({ version, areas: found }) <= bytes
      const areas = isKept ? found : null
      levels.set(keyOf(countryCode, level), { version, areas })
      return areas
    })
  }

  return {
    /** Undefined where they are not known. */
    get(countryCode: string, level: number, version: string): AreaRow[] | null | undefined {
      const known = levels.get(keyOf(countryCode, level))
      return known?.version === version ? known.areas : undefined
    },
    /** For all who ask meanwhile at once. */
    read(countryCode: string, level: number, version: string): Promise<AreaRow[] | null> {
      const key = `${keyOf(countryCode, level)} ${version}`
      const reading =
        underWay.get(key) ?? read(countryCode, level, version).finally(() => underWay.delete(key))
      underWay.set(key, reading)
      return reading
    },
  }
}

/** About how many bytes a level takes. */
function sizeOf({ version, areas }: Level): number {
  let bytes = BYTES_OF_AREA + version.length
  for (const area of areas ?? []) {
    bytes += BYTES_OF_AREA
    for (const value of Object.values(area)) if (typeof value === 'string') bytes += value.length
  }
  return bytes
}

function keyOf(countryCode: string, level: number): string {
  return `${countryCode} ${level}`
}

/** The country that a name or a code is of, both as `nameKey` gives them; names that somebody has listed come first. */
function countryNamed(countries: CountryWithSets[], key: string): CountryWithSets | undefined {
  return (
    countries.find(({ aliases }) => aliases.includes(key)) ??
    countries.find(({ code, lowerName }) => code === key || lowerName === key)
  )
}

/** Which boundaries of a country are loaded, down to a level. */
function versionOf(countries: CountryWithSets[], countryCode: string, level: number): string {
  const sets = countries.find(({ code }) => code === countryCode)?.sets ?? []
  return JSON.stringify(sets.filter((set) => set.level <= level))
}

function pageOf(areas: AreaRow[], { parent, after, limit }: AreaFilter): AreaRow[] {
  const page: AreaRow[] = []
  for (let at = after === null ? 0 : placeAfter(areas, after); at < areas.length; at++) {
    const area = areas[at] as AreaRow
    if (parent !== null && !LEVELS_BELOW.some((above) => area[`parent_code_${above}`] === parent)) continue
    if (page.length === limit) return [...page.slice(0, -1), { ...(page.at(-1) as AreaRow), more: true }]
    page.push({ ...area, more: false })
  }
  return page
}

/** How many areas have codes up to one, in the order of the database: that of their bytes. */
function placeAfter(areas: AreaRow[], after: string): number {
  const bytes = Buffer.from(after)
  let [low, high] = [0, areas.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (Buffer.compare(Buffer.from((areas[middle] as AreaRow).code), bytes) <= 0) low = middle + 1
    else high = middle
  }
  return low
}
