/**
 * node bin/run.mjs bench/ogc.ts SERVICE [SECONDS]
 *
 * Asks a service with demo data by the paths of /ogc and by those that answer the same, by turns, each place anew: how many
 * answers a second, and what part that is of the answers to points.
 */
import { Agent, get } from 'node:http'
import { formatTable } from '#src/cli/table.ts'
import { median } from './bench.ts'
import { randomNumbers } from './load/random.ts'

const CONNECTIONS = 16
const ROUNDS = 3

/** Where the demo has wheat: 37 to 40 E, 7 to 10 N. */
const [WEST, SOUTH, DEGREES] = [37, 7, 3]

const RELEASE = 'synthetic-yield-eth-wheat-2026-07-v1'

const [service, seconds = '3'] = process.argv.slice(2)
if (!service) throw new Error('give the address of the service')

const random = randomNumbers(20_261_123)
const place = (from: number) => (from + DEGREES * random()).toFixed(5)

/** What is asked for, and how the next address of it is drawn. */
const CALLS: [string, () => string][] = [
  ['a point', () => `/advisory/yield/point?crop=wheat&lat=${place(SOUTH)}&lng=${place(WEST)}`],
  [
    'EDR position',
    () => `/ogc/edr/collections/${RELEASE}/position?coords=POINT(${place(WEST)}%20${place(SOUTH)})`,
  ],
  [
    'EDR position, GeoJSON',
    () => `/ogc/edr/collections/${RELEASE}/position?f=GeoJSON&coords=POINT(${place(WEST)}%20${place(SOUTH)})`,
  ],
  ['10 areas', () => `/ogc/collections/areas-eth-1/items?limit=10&bbox=33,3,${place(45)},15`],
  [
    '10 areas with advice',
    () => `/ogc/collections/advisory-${RELEASE}-1/items?limit=10&bbox=33,3,${place(45)},15`,
  ],
  ['a tile, as XYZ', () => `/releases/${RELEASE}/layers/2/tiles/6/38/30`],
]

const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })

function ask(address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    get(address, { agent }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${response.statusCode} of ${address}`))
      response.resume()
      response.once('end', resolve)
    }).once('error', reject)
  })
}

async function rateOf(next: () => string): Promise<number> {
  const begun = performance.now()
  const until = begun + 1000 * Number(seconds)
  let answers = 0
  const client = async () => {
    for (; performance.now() < until; answers++) await ask(service + next())
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, client))
  return (1000 * answers) / (performance.now() - begun)
}

const rates = CALLS.map((): number[] => [])
for (const [, next] of CALLS) await ask(service + next())
for (let round = 0; round < ROUNDS; round++) {
  for (const [at, [, next]] of CALLS.entries()) rates[at]?.push(await rateOf(next))
}
agent.destroy()

const points = median(rates[0] as number[])
const rows = CALLS.map(([name], at) => {
  const rate = median(rates[at] as number[])
  return [name, rate.toFixed(0), (rate / points).toFixed(2)]
})
process.stdout.write(`${formatTable(['asked for', 'answers a second', 'of those to points'], rows)}\n`)
