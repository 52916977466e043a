import { readFile } from 'node:fs/promises'
import type { Database } from '#src/data/client.ts'
import type { App } from '#src/http/app.ts'
import { newFolder } from '#test/setup/folders.ts'
import type { Person } from '#test/setup/people.ts'
import { ingestManifest, kindFixture, type LayerText, manifestText, writeManifest } from './fixtures.ts'

interface Kind {
  lossy?: boolean
  layers: LayerText[]
  points: [number, number, ...(number | null)[]][]
}

/** How a file is packed and named does not change its tiles; `raster-kinds.test.ts` reads these too. */
const PACKED_OTHERWISE = /^(fill-order|jpeg|names|place|strip|world)/

/** Rasters of all kinds of tiles, and points in them. */
export const KINDS: Kind[] = Object.entries<Kind>(
  JSON.parse(await readFile(kindFixture('expected.json'), 'utf8')),
)
  .filter(([name]) => !PACKED_OTHERWISE.test(name))
  .map(([, kind]) => kind)

function monthOf(kind: number): string {
  return `${2000 + Math.floor(kind / 12)}-${String((kind % 12) + 1).padStart(2, '0')}`
}

/** Ingests them, or the first of them, each as a release of a month of its own; says their codes. */
export async function ingestKinds(database: Database, kinds = KINDS.length): Promise<string[]> {
  const codes: string[] = []
  const texts = await newFolder()
  for (const [kind, { layers, lossy }] of KINDS.slice(0, kinds).entries()) {
    const inFolder = layers.map(({ file, files, ...layer }, index) => ({
      ...layer,
      ...(file ? { file: kindFixture(file) } : { files: files?.map(kindFixture) }),
      input: `layer ${index}`,
      decimals: 10,
    }))
    const settings = { product: 'fertilizer', forecast_period: monthOf(kind), lossy }
    const manifest = await writeManifest(texts, manifestText(inFolder, settings))
    codes.push((await ingestManifest(database, manifest)).code)
  }
  return codes
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
      const { statusCode, body } = await app.inject({ method: 'POST', url, headers, payload })
      found.push(`${statusCode} ${body.replace(/"(history_id|request_id)":"[^"]+"/g, '')}`)
    }
    const places = points.map(([lng, lat]) => ({ lng, lat }))
    for (const place of places.slice(-3)) {
      await ask('/advisory/fertilizer/point', { ...place, forecast_period })
    }
    await ask('/advisory/fertilizer/points', { points: places, forecast_period })
    const [west, south] = [places[0]?.lng as number, places[0]?.lat as number]
    const ring = [
      [west - 0.05, south - 0.05],
      [west + 0.05, south - 0.05],
      [west, south + 0.05],
      [west - 0.05, south - 0.05],
    ]
    await ask('/advisory/fertilizer', { geometry: { type: 'Polygon', coordinates: [ring] }, forecast_period })
  }
  return found
}
