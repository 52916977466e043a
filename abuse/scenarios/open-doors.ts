import { ask, type Sent } from '#bench/load/client.ts'
import { star } from '#bench/rasters/shapes.ts'
import { floodWithoutToken, watchMemory } from '../attacks.ts'
import type { Scenario } from '../scenario.ts'

/** What the demo has published. */
const RELEASE = 'synthetic-yield-eth-wheat-2026-07-v1'
const CONNECTIONS = 20

/**
 * Somebody without a token, who asks for the next of some paths over and over.
 *
 * @param known so many of them are asked once before, since a process makes their answers once
 */
const attackOf = (
  name: string,
  attacker: string,
  sentOf: (number: number) => string | Sent,
  { known = 0, connections = CONNECTIONS } = {},
): Scenario => ({
  name,
  attacker,
  victims: ['kept point', 'history'],
  begin(target) {
    let asked = 0
    const next = (): Sent => {
      const sent = sentOf(asked++)
      return { method: 'GET', ...(typeof sent === 'string' ? { path: sent } : sent) }
    }
    return floodWithoutToken(target, connections, next, known)
  },
})

/** As many spikes as a URL has room for, each time elsewhere, so that no answer is known. */
function starAt(number: number): string {
  const at = { lat: 9 + (number % 97) / 100, lng: 38 + (number % 89) / 100 }
  const [ring = []] = star(at, 1, 180).coordinates
  const corners = ring.map((corner) => corner.map((degree) => degree.toFixed(5)).join(' '))
  return encodeURI(`POLYGON((${corners.join()}))`)
}

export const edrAreas = attackOf(
  'edr-areas',
  'asks EDR for stars of 180 spikes without a token over 20 connections',
  (number) => `/ogc/edr/collections/${RELEASE}/area?coords=${starAt(number)}`,
)

export const featurePages = attackOf(
  'feature-pages',
  'asks for pages of features with rectangles that nobody has asked for, without a token over 20 connections',
  (number) => `/ogc/collections/advisory-${RELEASE}-1/items?limit=1000&bbox=33,3,${48 - number / 1e6},15`,
)

export const downloads = attackOf(
  'downloads',
  'asks for all layers as GeoTIFF and for their catalog, without a token over 20 connections',
  (number) =>
    number % 5 === 4
      ? `/stac/collections/yield-eth/items/${RELEASE}`
      : `/releases/${RELEASE}/layers/${1 + (number % 4)}.tif`,
)

/** Zooms at which nobody looks: so many tiles that none is known. */
const ZOOM = 12

export const mapTiles = attackOf(
  'map-tiles',
  'asks for tiles of maps, each of them another, without a token over 20 connections',
  (number) => {
    const [row, column] = [1930 + (number % 60), 2470 + (Math.floor(number / 60) % 90)]
    return `/releases/${RELEASE}/layers/${1 + (number % 4)}/tiles/${ZOOM}/${column}/${row}`
  },
)

export const documents = attackOf(
  'documents',
  'asks for the OpenAPI document, uncompressed and compressed, without a token over 20 connections',
  (number) => ({
    path: `/openapi.${number % 3 === 0 ? 'yaml' : 'json'}?media=all`,
    headers: { 'accept-encoding': number % 2 === 0 ? 'identity' : 'gzip' },
  }),
  { known: 6 },
)

/** As many points as one request may have. */
const POSITIONS = 100

export const edrPositions = attackOf(
  'edr-positions',
  `asks EDR for ${POSITIONS} points without a token over 20 connections`,
  (number) => {
    const points = Array.from(
      { length: POSITIONS },
      (_, at) => `(${38 + at / 1000} ${9 + (number % 997) / 1000})`,
    )
    return `/ogc/edr/collections/${RELEASE}/position?coords=${encodeURI(`MULTIPOINT(${points.join()})`)}`
  },
)

export const coveragePages = attackOf(
  'coverage-pages',
  'asks for coverage with another limit each time, without a token over 20 connections',
  (number) => `/coverage?level=${1 + (number % 3)}&limit=${1 + (number % 1000)}`,
)

/** Areas of the demo that a pack may have: whole countries, then those of level 1. */
const PACKED_AREAS = Object.entries({ eth: 14, rwa: 5, ken: 47, gha: 16 }).flatMap(([country, regions]) => {
  const code = country.toUpperCase()
  const numbers = Array.from({ length: regions }, (_, at) => String(at + 1).padStart(2, '0'))
  return [`${country}/${code}`, ...numbers.map((number) => `${country}/${code}-${number}`)]
})

const packAt = (number: number) => `/packs/${PACKED_AREAS[number % PACKED_AREAS.length]}`

export const parquetPacks = attackOf(
  'parquet-packs',
  'asks for packs as GeoParquet, of another area each time, without a token over one connection',
  (number) => `${packAt(number)}.parquet`,
  { connections: 1 },
)

export const csvPacks = attackOf(
  'csv-packs',
  'asks for packs as CSV, of another area each time, without a token over one connection',
  (number) => `${packAt(number)}.csv`,
  { connections: 1 },
)

const PACK_FORMATS = ['parquet', 'csv', 'html', 'mbtiles']

export const packs = attackOf(
  'packs',
  'asks for packs of all formats, of another area each time, without a token over 4 connections',
  // Those that the attacks before have asked for are known.
  (number) => ({
    path: `${packAt(PACKED_AREAS.length - 1 - (number % PACKED_AREAS.length))}.${PACK_FORMATS[number % PACK_FORMATS.length]}`,
    headers: { 'accept-encoding': 'gzip' },
  }),
  { connections: 4 },
)

/** Each page is made anew, of some MB that are read from the database. */
const PACK_CONNECTIONS = 4
const KNOWN_PACKS = 8

export const packMemory: Scenario = {
  name: 'pack-memory',
  attacker: 'asks for packs of one district after the other, as pages, without a token over 4 connections',
  victims: ['kept point', 'history'],
  async begin(target) {
    const anybody = { ...(await target.newcomer()), token: undefined }
    const districts = await ask(anybody, {
      method: 'GET',
      path: '/ogc/collections/areas-eth-2/items?limit=1000&max-allowable-offset=0.5',
    })
    const codes: string[] = JSON.parse(districts.body).features.map(({ id }: { id: string }) => id)
    let asked = 0
    const next = () => ({ method: 'GET', path: `/packs/eth/${codes[asked++ % codes.length]}.html` })
    // What the first packs need stays.
    while (asked < KNOWN_PACKS) await ask(anybody, next())
    const growth = await watchMemory(target, { held: 50, resident: 200 })
    const { stop } = await floodWithoutToken(target, PACK_CONNECTIONS, next)
    return { stop: async () => [...(await stop()), ...(await growth())] }
  },
}
