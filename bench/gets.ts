/**
 * node bin/run.mjs bench/gets.ts SERVICE [CACHE] [SECONDS]
 *
 * Asks a service with demo data for the same mixes of anonymous GETs by turns, and a Varnish in front of it (ops/varnish),
 * where one is given: how many a second, what part that is of the first mix and of the service alone, and how many the
 * cache answers from its memory.
 */
import { formatTable } from '#src/cli/table.ts'
import { median } from './bench.ts'
import { ask } from './load/client.ts'
import { keepAsking } from './load/loops.ts'
import { randomNumbers, zipfPlaces } from './load/random.ts'

const CONNECTIONS = 32
const ROUNDS = 3
const FARMS = 20_000

/** Where the demo has wheat: 37 to 40 E, 7 to 10 N. */
const [WEST, SOUTH, DEGREES] = [37, 7, 3]

/** Pixels of the demo's rasters. */
const PIXEL = 0.05

const RELEASE = 'synthetic-yield-eth-wheat-2026-07-v1'

const addresses = process.argv.slice(2).filter((text) => text.startsWith('http'))
const seconds = Number(process.argv.at(-1)) || 5
if (addresses.length === 0) throw new Error('give the address of the service')

const random = randomNumbers(20_261_123)
const place = (from: number) => from + DEGREES * random()
const snapped = (degrees: number) => (Math.floor(degrees / PIXEL) + 0.5) * PIXEL
const pointAt = (lat: number, lng: number) =>
  `/advisory/yield/point?crop=wheat&lat=${lat.toFixed(5)}&lng=${lng.toFixed(5)}`
const positionAt = (format: string) =>
  `/ogc/edr/collections/${RELEASE}/position?${format}coords=POINT(${place(WEST).toFixed(5)}%20${place(SOUTH).toFixed(5)})`
const areasOf = (collection: string) =>
  `/ogc/collections/${collection}/items?limit=10&bbox=33,3,${place(45).toFixed(5)},15`

const farms = Array.from({ length: FARMS }, () => [place(SOUTH), place(WEST)] as const)
const byZipf = zipfPlaces(FARMS, random)

/** What is asked for, and how the next path of it is drawn. */
const MIXES: [string, () => string][] = [
  ['any place, as a telephone knows it', () => pointAt(place(SOUTH), place(WEST))],
  ["20,000 farms, by Zipf's law", () => pointAt(...(farms[byZipf()] as [number, number]))],
  [
    'the same, moved to the centres of pixels',
    () => pointAt(...((farms[byZipf()] as [number, number]).map(snapped) as [number, number])),
  ],
  ['tiles of a map, zoom 5 to 8', tile],
  ['EDR position', () => positionAt('')],
  ['EDR position, GeoJSON', () => positionAt('f=GeoJSON&')],
  ['10 areas', () => areasOf('areas-eth-1')],
  ['10 areas with advice', () => areasOf(`advisory-${RELEASE}-1`)],
]

function tile(): string {
  const zoom = 5 + Math.floor(random() * 4)
  const [longitude, latitude] = [place(WEST), place(SOUTH) * (Math.PI / 180)]
  const x = Math.floor(((longitude + 180) / 360) * 2 ** zoom)
  const y = Math.floor(((1 - Math.asinh(Math.tan(latitude)) / Math.PI) / 2) * 2 ** zoom)
  return `/releases/${RELEASE}/layers/2/tiles/${zoom}/${x}/${y}`
}

interface Measured {
  rate: number
  /** Of its answers, those that a cache had: its name for them has two parts then. */
  hits: number
}

async function measure(address: string, next: () => string): Promise<Measured> {
  const client = { port: Number(new URL(address).port) }
  let [answers, hits] = [0, 0]
  const asking = keepAsking(CONNECTIONS, async () => {
    const path = next()
    const { status, headers } = await ask(client, { method: 'GET', path })
    if (status !== 200) throw new Error(`${path} was answered ${status}`)
    answers++
    if (/ /.test(String(headers['x-varnish'] ?? ''))) hits++
  })
  const began = performance.now()
  await new Promise((resolve) => setTimeout(resolve, 1000 * seconds))
  await asking.stop()
  return { rate: (1000 * answers) / (performance.now() - began), hits: hits / answers }
}

const rounds = MIXES.map(() => addresses.map((): Measured[] => []))
for (let round = 0; round < ROUNDS; round++) {
  for (const [mix, [, next]] of MIXES.entries()) {
    for (const [at, address] of addresses.entries()) rounds[mix]?.[at]?.push(await measure(address, next))
  }
}

const medianOf = (mix: number, at: number, of: keyof Measured) =>
  median((rounds[mix]?.[at] ?? []).map((measured) => measured[of]))
const rows = MIXES.map(([name], mix) => {
  const rate = medianOf(mix, 0, 'rate')
  const cells = [name, rate.toFixed(0), (rate / medianOf(0, 0, 'rate')).toFixed(2)]
  if (addresses.length === 1) return cells
  const cached = (medianOf(mix, 1, 'rate') / rate).toFixed(2)
  return [...cells, `${(100 * medianOf(mix, 1, 'hits')).toFixed(1)} %`, cached]
})
const head = ['what is asked for', 'answers a second', 'of the first']
const ofCache = addresses.length === 1 ? [] : ['from memory', 'of the service alone']
process.stdout.write(`${formatTable([...head, ...ofCache], rows)}\n`)
