import type { Reply } from '#bench/load/client.ts'
import { type Asking, type Caller, callerOf } from './callers.ts'
import type { Asked, Plan } from './plan.ts'

/** What a pack of a format begins with. */
const BEGINNINGS = {
  html: '<!DOCTYPE html>',
  csv: 'name,label,',
  parquet: 'PAR1',
  mbtiles: 'SQLite format 3',
}

/** Takes packs of one district after the other, each as soon as it has the one before. */
export function packTaker(asking: Asking, districts: readonly string[]): Caller {
  let turn = 0
  return oneAtATime(5000, async () => {
    const district = districts[turn % districts.length]
    const formats = Object.entries(BEGINNINGS)
    const [format, beginning] = formats[turn++ % formats.length] as [string, string]
    const sent = { method: 'GET', path: `/packs/eth/${district}.${format}` }
    await asking('pack', sent, undefined, ({ body }) =>
      body.startsWith(beginning) ? {} : { wrong: body.slice(0, 200) },
    )
  })
}

/** What the demo has published, and what its map asks for at once; each time another part of the map. */
const LAYERS = '/releases/synthetic-yield-eth-wheat-2026-07-v1/layers'
const ZOOM = 7

function mapPage(turn: number): string[] {
  const [west, north] = [76 + (turn % 6), 58 + (turn % 5)]
  const areas = ['eth', 'gha', 'ken', 'rwa'].map(
    (country) => `/ogc/collections/areas-${country}-0/items?limit=1000&max-allowable-offset=0.008`,
  )
  const tiles = Array.from(
    { length: 12 },
    (_, at) => `${LAYERS}/${1 + (turn % 4)}/tiles/${ZOOM}/${west + (at % 4)}/${north + Math.floor(at / 4)}`,
  )
  return ['/catalog', `${LAYERS}?cut=quantiles`, ...areas, ...tiles]
}

/** Opens the map, again and again. */
export function mapVisitor(asking: Asking): Caller {
  let turn = 0
  const check = ({ body }: Reply) => (body.length > 0 ? {} : { wrong: 'nothing' })
  return oneAtATime(5000, async () => {
    const paths = mapPage(turn++)
    await Promise.all(paths.map((path) => asking('map', { method: 'GET', path }, undefined, check)))
  })
}

const FIELDS = 200

/** Puts fields in the place of those before, reads them, and asks for their advice. */
export function fieldOwner(asking: Asking, { account }: Plan): Caller {
  let turn = 0
  return oneAtATime(7000, async () => {
    const body = JSON.stringify({ type: 'FeatureCollection', features: fieldsAt(turn++) })
    const path = '/fields/mine'
    const token = account.access_token
    await asking('saved fields', { method: 'PUT', path, body }, token)
    const get = (path: string, list: string) =>
      asking('saved fields', { method: 'GET', path }, token, ({ body }) => countIn(body, list))
    await get(`${path}?format=geojson`, 'features')
    await get(`${path}/advice?product=yield`, 'items')
  })
}

function countIn(body: string, list: string): Pick<Asked, 'wrong'> {
  const { length } = JSON.parse(body)[list]
  return length === FIELDS ? {} : { wrong: `${length} fields instead of ${FIELDS}` }
}

/** Squares of 1 km, elsewhere each time. */
function fieldsAt(turn: number): object[] {
  return Array.from({ length: FIELDS }, (_, number) => {
    const west = 38 + (number % 25) / 50
    const south = 9 + Math.floor(number / 25) / 50 + (turn % 7) / 1000
    const corners = [0, 0.01].flatMap((east) => [0, 0.01].map((north) => [west + east, south + north]))
    const [a, b, c, d] = corners
    return {
      type: 'Feature',
      id: `field-${number}`,
      properties: { name: `Field ${number} of ${turn}`, country_code: 'eth', crop: 'wheat' },
      geometry: { type: 'Polygon', coordinates: [[a, c, d, b, a]] },
    }
  })
}

/** Asks at fixed times, but where it has not done with the time before. */
function oneAtATime(everyMs: number, ask: Caller['ask']): Caller {
  let isUnderWay = false
  return callerOf(everyMs, async () => {
    if (isUnderWay) return
    isUnderWay = true
    await ask().finally(() => {
      isUnderWay = false
    })
  })
}
