import { readFileSync } from 'node:fs'
import type { Database } from '#src/data/database.ts'
import type { App } from '#src/http/app.ts'
import { call } from '#test/setup/calls.ts'
import { newFolder } from '#test/setup/folders.ts'
import type { Person } from '#test/setup/people.ts'
import { rectangle } from '#test/setup/square.ts'
import { ingestManifest, kindFixture, type LayerText, manifestText, writeManifest } from './fixtures.ts'

/** A kind of raster with GDAL's answers; test/fixtures/raster_kinds.py says how they were asked for. */
export interface Kind {
  name: string
  layers: LayerText[]
  lossy?: boolean
  /** For the operator. */
  notes: string[]
  /** Longitude, latitude, and the value of each layer: null without one, undefined if not asked for. */
  points: [lng: number, lat: number, ...values: (number | null | undefined)[]][]
}

const EXPECTED: Record<string, Omit<Kind, 'name'>> = JSON.parse(
  readFileSync(kindFixture('expected.json'), 'utf8'),
)

export const ALL_KINDS = Object.entries(EXPECTED).map(
  ([name, { layers, notes, ...kind }]): Kind => ({
    ...kind,
    name,
    layers: layers.map(({ file, files, ...layer }) => ({
      ...layer,
      ...(file ? { file: kindFixture(file) } : { files: files?.map(kindFixture) }),
    })),
    notes: notes.map((note) => note.replaceAll('FOLDER/', kindFixture(''))),
  }),
)

/** Names and packing of a file do not change its tiles. */
export const KINDS = ALL_KINDS.filter(({ name }) => !/^(jpeg|names|place|strip|world)/.test(name))

/** Each kind is a release of a month of its own. */
function monthOf(kind: number): string {
  return `${2000 + Math.floor(kind / 12)}-${String((kind % 12) + 1).padStart(2, '0')}`
}

/** A load waits for the disk more than it computes, and has two of four connections. The embedded database has one. */
const TOGETHER = process.env.TEST_DATABASE_KIND === 'server' ? 2 : 1

/** The codes and notes, or a failure: one kind must not hide the others. */
export async function ingestKinds(database: Database, kinds: Kind[]) {
  const folder = await newFolder()
  const ingest = async ({ layers, lossy }: Kind, index: number) => {
    const named = layers.map((layer, number) => ({ ...layer, input: `layer ${number}`, decimals: 10 }))
    const settings = { product: 'fertilizer', forecast_period: monthOf(index), lossy }
    const manifest = await writeManifest(folder, manifestText(named, settings), `${index}.yaml`)
    const failed = (failure: unknown) => ({ code: '', notes: [], failure })
    return ingestManifest(database, manifest).catch(failed)
  }
  const outcomes: { code: string; notes: string[] }[] = []
  for (let first = 0; first < kinds.length; first += TOGETHER) {
    const some = kinds.slice(first, first + TOGETHER)
    outcomes.push(...(await Promise.all(some.map((kind, at) => ingest(kind, first + at)))))
  }
  return outcomes
}

/** Half of the last of ten decimals is lost to rounding; a double's own error is far below 1e-9. */
export function isNear(found: number | null, expected: number | null): boolean {
  if (found === null || expected === null) return found === expected
  return Math.abs(found - expected) <= 0.5001e-10 + 1e-9 * Math.abs(expected)
}

/** What a batch says of a point: entries, or that there are none. */
interface Item {
  code?: string
  fertilizer_data?: { fertilizer_type: string; rate_kg_ha: number }[] | null
}

/** The points at which the service answers otherwise than GDAL. */
export async function differencesAt(app: App, kind: number, { layers, points }: Kind): Promise<unknown[]> {
  const payload = { points: points.map(([lng, lat]) => ({ lng, lat })), forecast_period: monthOf(kind) }
  const response = await call(app, 'POST /advisory/fertilizer/points', { payload })
  const items: Item[] = response.body.items
  return points.flatMap(([lng, lat, ...expected], index) => {
    const { code, fertilizer_data: entries } = items[index] as Item
    const found = layers.map((_, number) => {
      const entry = entries?.find(({ fertilizer_type }) => fertilizer_type === `layer ${number}`)
      return entry?.rate_kg_ha ?? null
    })
    const isWell = code === undefined || code === 'NO_DATA'
    const isRight = expected.every(
      (value, number) => value === undefined || isNear(found[number] as number | null, value),
    )
    return isWell && isRight ? [] : [{ lng, lat, code, expected, found }]
  })
}

/** What is answered for all kinds: to points, to many at once, and to a polygon around some of them. */
export async function answersOf(
  app: App,
  { headers }: Pick<Person, 'headers'>,
  kinds = KINDS.length,
): Promise<string[]> {
  const found: string[] = []
  for (const [kind, { points }] of KINDS.slice(0, kinds).entries()) {
    const forecast_period = monthOf(kind)
    const ask = async (url: string, payload: object) => {
      const { status, text } = await call(app, `POST ${url}`, { headers, payload })
      found.push(`${status} ${text.replace(/"(history_id|request_id)":"[^"]+"/g, '')}`)
    }
    const places = points.map(([lng, lat]) => ({ lng, lat }))
    for (const place of places.slice(-3)) {
      await ask('/advisory/fertilizer/point', { ...place, forecast_period })
    }
    await ask('/advisory/fertilizer/points', { points: places, forecast_period })
    const [west, south] = [places[0]?.lng as number, places[0]?.lat as number]
    const geometry = rectangle(west - 0.05, south - 0.05, west + 0.05, south + 0.05)
    await ask('/advisory/fertilizer', { geometry, forecast_period })
  }
  return found
}
