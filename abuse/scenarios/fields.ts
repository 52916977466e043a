import { ask, type Client, join, type Member, type Sent, written } from '#bench/load/client.ts'
import { open } from '#bench/load/connection.ts'
import { keepAsking } from '#bench/load/loops.ts'
import { star } from '#bench/rasters/shapes.ts'
import { flood } from '../attacks.ts'
import type { Scenario } from '../scenario.ts'

const GEOJSON = 'application/geo+json'

/** So many fields of one hectare on a lattice where the demo has values. */
function smallFields(count: number): object[] {
  const columns = Math.ceil(Math.sqrt(count))
  return Array.from({ length: count }, (_, id) => {
    const [west, south] = [38.3 + 0.0015 * (id % columns), 9.3 + 0.0015 * Math.floor(id / columns)]
    const [east, north] = [west + 0.001, south + 0.001]
    const ring = [
      [west, south],
      [east, south],
      [east, north],
      [west, north],
      [west, south],
    ]
    return featureOf(id, { type: 'Polygon', coordinates: [ring] })
  })
}

/** Stars of 9,998 vertices. */
const largeFields = (count: number) =>
  Array.from({ length: count }, (_, id) =>
    featureOf(id, star({ lat: 9.5 + id / 1000, lng: 38.5 }, 0.1, 4999)),
  )

const featureOf = (id: number, geometry: object, properties: object | null = null) => ({
  type: 'Feature',
  ...{ id: `F-${id}`, geometry, properties },
})

const upload = (features: object[], name = 'abuse'): Sent => ({
  method: 'PUT',
  path: `/fields/${name}`,
  body: JSON.stringify({ type: 'FeatureCollection', features }),
  headers: { 'content-type': GEOJSON },
})

/** Somebody with a collection. */
async function ownerOf(owner: Member, features: object[]): Promise<Member> {
  const { status, body } = await ask(owner, upload(features))
  if (status !== 200) throw new Error(`the fields were answered ${status} ${body}`)
  return owner
}

/** Reads of an own collection over one connection. */
const readsOf = (name: string, attacker: string, path: string, features: () => object[]): Scenario => ({
  name,
  attacker: `${attacker} over one connection`,
  victims: ['kept point', 'history'],
  async begin({ newcomer }) {
    const owner = await ownerOf(await newcomer(), features())
    return flood([owner], 1, () => ({ method: 'GET', path }))
  },
})

const LARGE = 100

export const largeFieldsCsv = readsOf(
  'large-fields-csv',
  `reads ${LARGE} own fields of 9,998 vertices each as CSV`,
  '/fields/abuse?format=csv',
  () => largeFields(LARGE),
)

export const largeFieldsGeojson = readsOf(
  'large-fields-geojson',
  `reads ${LARGE} own fields of 9,998 vertices each as GeoJSON`,
  '/fields/abuse?format=geojson',
  () => largeFields(LARGE),
)

export const manyFieldsGeojson = readsOf(
  'many-fields-geojson',
  'reads 20,000 own fields of a hectare as GeoJSON',
  '/fields/abuse?format=geojson',
  () => smallFields(20_000),
)

export const fieldAdvice = readsOf(
  'field-advice',
  'asks for advice on 20,000 own fields of a hectare as CSV',
  '/fields/abuse/advice?product=fertilizer&format=csv',
  () => smallFields(20_000),
)

/** Uploads over one connection, again and again. */
const uploadsOf = (name: string, attacker: string, features: () => object[]): Scenario => ({
  name,
  attacker: `${attacker} over one connection`,
  victims: ['kept point', 'history'],
  async begin({ newcomer }) {
    const sent = upload(features())
    return flood([await newcomer()], 1, () => sent)
  },
})

export const largeFieldUploads = uploadsOf(
  'large-field-uploads',
  'uploads 50 fields of 9,998 vertices each',
  () => largeFields(50),
)

const MEMBERS = Object.fromEntries(Array.from({ length: 49_000 }, (_, at) => [`member ${at}`, at]))

export const fieldMembers = uploadsOf('field-members', 'uploads 50 fields with 49,000 properties each', () =>
  smallFields(50).map((field) => ({ ...field, properties: MEMBERS })),
)

const SLOW_ADDRESS = '127.67.0.1'
/** More than were read at a time, once. */
const SLOW_UPLOADS = 40
/** A little more than the slowest pace that is served. */
const SLOW_BYTES_PER_SECOND = 1500
const TICK_MS = 200
/** Its body lasts five minutes at that pace. */
const SLOW_FIELDS = 2000
/** The longest that somebody else's upload of one field may take. */
const LONGEST_MS = 2000

export const slowUploads: Scenario = {
  name: 'slow-uploads',
  attacker: `uploads fields with ${SLOW_UPLOADS} accounts of one address, at 1.5 kB/s each`,
  victims: ['kept point'],
  async begin({ port, newcomer }) {
    const other = await newcomer()
    // Whatever takes this process long comes before the first upload, which would stop meanwhile.
    const sent = upload(smallFields(SLOW_FIELDS))
    const owners = Array.from({ length: SLOW_UPLOADS }, () => join({ port, address: SLOW_ADDRESS }))
    const slow = await Promise.all((await Promise.all(owners)).map((owner) => uploadSlowly(owner, sent)))
    let [answered, longest, since] = [0, 0, performance.now()]
    const loop = keepAsking(1, async () => {
      since = performance.now()
      const { status, ms } = await ask(other, upload(smallFields(1)))
      if (status === 200) answered++
      longest = Math.max(longest, ms)
    })
    return {
      async stop() {
        const value = Math.max(longest, performance.now() - since)
        const cut = slow.filter(({ socket }) => socket.closed).length
        for (const { end } of slow) end()
        await loop.stop()
        return [
          { what: 'longest upload of one field by somebody else', value, unit: ' ms', limit: LONGEST_MS },
          { what: 'seconds for such an upload', value: 6 / answered, unit: '', limit: 1 },
          { what: 'slow uploads that were cut off', value: cut, unit: '', limit: 0 },
        ]
      },
    }
  },
}

/** By the clock: on a busy machine, ticks come late. */
async function uploadSlowly(client: Client, { body, ...request }: Sent) {
  const text = body as string
  const socket = await open(client, written(client, request, text.length), true)
  const began = performance.now()
  let sent = 0
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - began) / 1000) * SLOW_BYTES_PER_SECOND)
    socket.write(text.slice(sent, due))
    sent = due
  }, TICK_MS)
  return {
    socket,
    end() {
      clearInterval(timer)
      socket.destroy()
    },
  }
}
