import { readCoordinates, readGridCode } from '#src/advice/location/spellings.ts'
import { nameKey, slipBetween } from '#src/lib/names.ts'
import type { Pack } from '#src/standards/packs/reading.ts'
import type { FoundArea, FoundAreas } from '../api-types.ts'

/** Areas that are shown at most. */
const MOST_FOUND = 20

/** Finds areas of a pack by names or codes, and takes coordinates. @throws {Error} for coordinates beyond the earth */
export function findPlaces({ area }: Pack, text: string): FoundAreas {
  const position = readCoordinates(text, 'place') ?? readGridCode(text)
  if (position) return { items: [], is_near: false, position }
  const wanted = nameKey(text)
  const named = area.places.map((place) => {
    const found = { ...describe(area, place), key: nameKey(place.name) }
    return { found, rank: rankOf(wanted, found), slip: slipBetween(wanted, found.key) }
  })
  const exact = named.filter(({ rank }) => rank > 0).sort((one, other) => other.rank - one.rank)
  const near = named.filter(({ slip }) => Number.isFinite(slip)).sort((one, other) => one.slip - other.slip)
  const items = (exact.length > 0 ? exact : near).slice(0, MOST_FOUND).map(({ found }) => found)
  return { items, is_near: exact.length === 0 && near.length > 0, position: null }
}

/** 0 for a place that the text does not name. */
function rankOf(wanted: string, { code, key }: { code: string; key: string }): number {
  if (code.toLowerCase() === wanted || key === wanted) return 3
  if (key.startsWith(wanted)) return 2
  return key.includes(wanted) ? 1 : 0
}

function describe(
  { countryCode, name: parent }: Pack['area'],
  { code, name, level, longitude, latitude }: Pack['area']['places'][number],
): FoundArea {
  return { code, name, level, country_code: countryCode, parent, lat: latitude, lng: longitude } as FoundArea
}
