import { isInPack, type Pack } from '#src/extensions/packs/reading.ts'
import { readCoordinates, readGridCode } from '#src/extensions/places/spellings.ts'
import { nameKey, slipBetween } from '#src/lib/names.ts'
import { round } from '#src/lib/round.ts'
import type { FoundArea, FoundAreas } from '../../../api-types.ts'

type Centre = Pick<Pack['area'], 'longitude' | 'latitude'>

/** Of centres: a metre. */
const DECIMALS = 5

/** Areas that are shown at most. */
const MOST_FOUND = 20

/** Finds the area of a pack and those inside by names or codes, and takes coordinates. @throws {Error} for coordinates beyond the earth */
export function findPlaces(pack: Pack, text: string): FoundAreas {
  const position = readCoordinates(text, 'place') ?? readGridCode(text)
  if (position) return { items: [], is_near: false, position }
  const wanted = nameKey(text)
  const { area } = pack
  const above = area.parents[area.parents.length - 1]?.name
  const own = describe({ ...area, name: above }, { ...area, ...placeInside(pack) })
  const all = [own, ...area.places.map((place) => describe(area, place))]
  const named = all.map((one) => {
    const found = { ...one, key: nameKey(one.name) }
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

/** Where an area is shown: its centre of mass, or where that lies outside, the middle of the widest part to both sides. */
function placeInside({ area: { longitude, latitude }, polygons }: Pack): Centre {
  if (isInPack({ polygons }, { longitude, latitude })) return { longitude, latitude }
  const crossings = polygons.flatMap(({ rings }) => rings.flatMap((ring) => listCrossings(ring, latitude)))
  crossings.sort((one, other) => one - other)
  let [widest, middle] = [0, longitude]
  for (let at = 0; at + 1 < crossings.length; at += 2) {
    const [from, to] = [crossings[at] as number, crossings[at + 1] as number]
    if (to - from > widest) [widest, middle] = [to - from, (from + to) / 2]
  }
  return { longitude: round(middle, DECIMALS), latitude }
}

/** The longitudes at which the edges of a ring cross a latitude. */
function listCrossings(ring: Float64Array, latitude: number): number[] {
  const crossings: number[] = []
  for (let at = 0; at + 3 < ring.length; at += 2) {
    const [ax, ay, bx, by] = ring.subarray(at, at + 4) as unknown as [number, number, number, number]
    if (ay > latitude !== by > latitude) crossings.push(ax + ((latitude - ay) / (by - ay)) * (bx - ax))
  }
  return crossings
}

function describe(
  { countryCode, name: parent }: { countryCode: string; name: string | undefined },
  { code, name, level, longitude, latitude }: Pack['area']['places'][number],
): FoundArea {
  return { code, name, level, country_code: countryCode, parent, lat: latitude, lng: longitude } as FoundArea
}
