/**
 * node bin/run.mjs bench/caches.ts SERVICE CACHE [SECONDS]
 *
 * Asks a service with demo data and a Varnish in front of it (ops/varnish) the same mixes of anonymous GETs, by turns:
 * how many are answered from the cache, and how many a second.
 */
import { Agent, get } from 'node:http'
import { formatTable } from '#src/cli/table.ts'
import { median } from './bench.ts'
import { randomNumbers, zipfPlaces } from './load/random.ts'

const CONNECTIONS = 32
const ROUNDS = 3
const FARMS = 20_000

/** Where the demo has wheat: 37 to 40 E, 7 to 10 N. */
const [WEST, SOUTH, DEGREES] = [37, 7, 3]

/** Pixels of the demo's rasters. */
const PIXEL = 0.05

const [service, cache, seconds = '5'] = process.argv.slice(2)
if (!service || !cache) throw new Error('give the addresses of the service and of the cache')

const random = randomNumbers(20_261_123)
const place = (from: number) => from + DEGREES * random()
const snapped = (degrees: number) => (Math.floor(degrees / PIXEL) + 0.5) * PIXEL
const pointAt = (lat: number, lng: number) =>
  `/advisory/yield/point?crop=wheat&lat=${lat.toFixed(5)}&lng=${lng.toFixed(5)}`

const farms = Array.from({ length: FARMS }, () => [place(SOUTH), place(WEST)] as const)
const byZipf = zipfPlaces(FARMS, random)
const RELEASE = 'synthetic-yield-eth-wheat-2026-07-v1'

/** What is asked for, and how the next address of it is drawn. */
const MIXES: [string, () => string][] = [
  ["20,000 farms, by Zipf's law", () => pointAt(...(farms[byZipf()] as [number, number]))],
  [
    'the same, moved to the centres of pixels',
    () => pointAt(...((farms[byZipf()] as [number, number]).map(snapped) as [number, number])),
  ],
  ['any place, as a telephone knows it', () => pointAt(place(SOUTH), place(WEST))],
  ['tiles of a map, zoom 5 to 8', tile],
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
  /** Of its answers, those that the cache had. */
  hits: number
}

const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })

/** Asks once; whether the answer came from a cache's memory, whose name for it has two parts then. */
function ask(address: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    get(address, { agent }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${response.statusCode} of ${address}`))
      response.resume()
      response.once('end', () => resolve(/ /.test(String(response.headers['x-varnish'] ?? ''))))
    }).once('error', reject)
  })
}

async function measure(origin: string, next: () => string): Promise<Measured> {
  const until = performance.now() + 1000 * Number(seconds)
  let [answers, hits] = [0, 0]
  const client = async () => {
    while (performance.now() < until) {
      if (await ask(origin + next())) hits++
      answers++
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, client))
  return { rate: answers / Number(seconds), hits: hits / answers }
}

const rows: string[][] = []
for (const [name, next] of MIXES) {
  const direct: Measured[] = []
  const cached: Measured[] = []
  for (let round = 0; round < ROUNDS; round++) {
    direct.push(await measure(service, next))
    cached.push(await measure(cache, next))
  }
  const rate = (of: Measured[]) => median(of.map((measured) => measured.rate))
  const hits = median(cached.map((measured) => measured.hits))
  rows.push([name, `${(100 * hits).toFixed(1)} %`, (rate(cached) / rate(direct)).toFixed(2)])
}
agent.destroy()
process.stdout.write(
  `${formatTable(['what is asked for', 'from memory', 'answers a second, of the service alone'], rows)}\n`,
)
