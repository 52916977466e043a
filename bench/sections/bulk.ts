import { type Bench, median, say } from '../bench.ts'
import { ask, type Client, join } from '../load/client.ts'
import type { DatabaseServer } from '../postgres.ts'
import { hectareAround } from '../rasters/shapes.ts'
import type { BulkResult } from '../results.ts'
import { startService } from '../service.ts'

const PATH = '/advisory/fertilizer/polygons'
const LEVEL = 2
/** As many as one call may have. */
const FIELDS = 1000
const WARM_CALLS = 5

/** Many polygons in one call. */
export async function measureBulk(bench: Bench, server: DatabaseServer, url: string): Promise<BulkResult> {
  const areas = await countAreas(server, url)
  const cold: number[] = []
  const warm: number[] = []
  const fields: number[] = []
  for (let round = 0; round < bench.effort.rounds; round++) {
    say(`polygons in bulk, round ${round + 1} of ${bench.effort.rounds}`)
    // Nothing that areas have come to is left: not in the database, and not in memory.
    await server.execute(url, 'delete from area_result')
    const service = await startService(bench.cleanup, { DATABASE_URL: url })
    const member = await join(service)
    const timed = (body: object, expected: number) => millisecondsOf(bench, member, body, expected)
    const ofLevel = { admin: { country_code: 'eth', level: LEVEL }, crop: 'wheat' }
    cold.push(await timed(ofLevel, areas))
    for (let call = 0; call < WARM_CALLS; call++) warm.push(await timed(ofLevel, areas))
    const places = bench.places.uniform.slice(round * FIELDS, (round + 1) * FIELDS)
    const features = places.map((point, id) => ({
      type: 'Feature',
      id,
      properties: {},
      geometry: hectareAround(point),
    }))
    fields.push(await timed({ polygons: { type: 'FeatureCollection', features }, crop: 'wheat' }, FIELDS))
    await service.stop()
  }
  return {
    areas,
    areasCold: median(cold),
    areasWarm: median(warm),
    fields: FIELDS,
    fieldsCold: median(fields),
  }
}

async function countAreas(server: DatabaseServer, url: string): Promise<number> {
  const [counted] = (await server.execute(
    url,
    `select count(*)::integer as areas from admin_area where country_code = 'eth' and level = ${LEVEL}`,
  )) as [{ areas: number }]
  return counted.areas
}

/** How long a call takes; what does not answer for each polygon is a problem. */
async function millisecondsOf(
  { problems }: Bench,
  client: Client,
  polygons: object,
  expected: number,
): Promise<number> {
  const headers = { accept: 'application/x-ndjson' }
  const { status, body, ms } = await ask(client, { path: PATH, body: polygons, headers })
  const lines = body.split('\n').length - 1
  if (status !== 200 || lines !== expected) {
    problems.push(`${expected} polygons were answered ${status}, ${lines} lines: ${body.slice(0, 300)}`)
  }
  return ms
}
