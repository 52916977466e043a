/**
 * How long advice for polygons takes, one request at a time, against a service in this process.
 *
 * node bin/run.mjs bench/polygons-alone.ts, with DATABASE_URL naming a database that has the NPS raster of
 * ../shared/data/rasters published as fertilizer of Ethiopia, and its areas of levels 1 and 2.
 */
import { Agent, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sql } from 'kysely'
import { buildApp } from '#src/app.ts'
import { loadConfig } from '#src/config.ts'
import { type Database, openCluster } from '#src/database/client.ts'

/** Milliseconds, but for the ratio. */
export interface PolygonFigures {
  field_p50: number
  zones_cold_p50: number
  zones_cold_max: number
  zones: number
  largest_region: string
  region_cold: number
  region_warm_p50: number
  clip_region: number
  clip_to_cold: number
  /** The same shape at other sizes: the border grows with the size, the area with its square. */
  by_size: { area_km2: number; border_km: number; ms: number }[]
  /** The same area with other borders. */
  by_border: { area_km2: number; border_km: number; ms: number }[]
}

const ROUNDS = 200
const KILOMETRES_A_DEGREE = 110.6

type Ring = [number, number][]

/** Measures a service on a database; what it keeps of areas is forgotten first. */
export async function measurePolygons(databaseUrl: string): Promise<PolygonFigures> {
  const config = loadConfig({
    LOG_LEVEL: 'silent',
    JWT_SECRET: 'for the bench alone '.repeat(2),
    DATABASE_URL: databaseUrl,
  })
  const cluster = await openCluster(config)
  const database = cluster.connect()
  const app = await buildApp(config, database)
  await app.listen({ port: 0 })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const { port } = app.server.address() as AddressInfo
  const account = { email: `bench-${Date.now()}@example.org`, password: 'a bench measures', name: 'Bench' }
  await app.inject({ method: 'POST', url: '/auth/register', payload: account })
  const login = await app.inject({ method: 'POST', url: '/auth/login', payload: account })
  const headers = { authorization: `Bearer ${login.json().access_token}` }

  /** How long an answer takes, in milliseconds. */
  function timeOf(body: object): Promise<number> {
    const payload = JSON.stringify({ crop: 'wheat', country_code: 'eth', ...body })
    const started = performance.now()
    return new Promise((resolve, reject) => {
      const sent = request(
        {
          agent,
          port,
          method: 'POST',
          path: '/advisory/fertilizer',
          headers: {
            ...headers,
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(payload),
          },
        },
        (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk) => chunks.push(chunk))
          response.on('end', () => {
            if (response.statusCode === 200 || response.statusCode === 404) {
              resolve(performance.now() - started)
            } else reject(new Error(Buffer.concat(chunks).toString()))
          })
        },
      )
      sent.on('error', reject)
      sent.end(payload)
    })
  }

  const polygon = (ring: Ring) => ({ geometry: { type: 'Polygon', coordinates: [ring] } })
  const area = (code: string) => ({ admin: { country_code: 'eth', code } })
  const repeated = async (body: object, times: number) => {
    const found: number[] = []
    for (let round = 0; round < times; round++) found.push(await timeOf(body))
    return median(found)
  }

  try {
    await sql`delete from area_result`.execute(database.writer)
    const fields: number[] = []
    for (let index = -ROUNDS; index < ROUNDS; index++) {
      const time = await timeOf(
        polygon(square(36 + ((Math.abs(index) * 0.7548) % 4), 7 + ((Math.abs(index) * 0.5698) % 3), 0.0009)),
      )
      if (index >= 0) fields.push(time)
    }
    const zones: number[] = []
    for (const code of await codesOf(database, 2)) zones.push(await timeOf(area(code)))
    const region = await largestRegion(database)
    const regionCold = await timeOf(area(region.code))
    const regionWarm = await repeated(area(region.code), ROUNDS)
    const clip = await timeOfClip(database, region.code)
    return {
      field_p50: median(fields),
      zones_cold_p50: median(zones),
      zones_cold_max: Math.max(...zones),
      zones: zones.length,
      largest_region: region.name,
      region_cold: regionCold,
      region_warm_p50: regionWarm,
      clip_region: clip,
      clip_to_cold: clip / regionCold,
      by_size: await series([0.25, 0.5, 1, 2, 4].map((size) => gear(38.5, 8.5, size, 6, 0.1))),
      by_border: await series([6, 24, 96, 384].map((teeth) => gear(38.5, 8.5, 2, teeth, 0.4))),
    }
  } finally {
    agent.destroy()
    await app.close()
    await database.close()
    await cluster.close()
  }

  async function series(rings: Ring[]): Promise<PolygonFigures['by_size']> {
    const found: PolygonFigures['by_size'] = []
    for (const ring of rings) {
      found.push({ ...sizeOf(ring), ms: rounded(await repeated(polygon(ring), 5)) })
    }
    return found
  }
}

function median(times: number[]): number {
  return rounded(times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] as number)
}

function rounded(milliseconds: number): number {
  return Number(milliseconds.toFixed(2))
}

function square(west: number, south: number, size: number): Ring {
  return [
    [west, south],
    [west + size, south],
    [west + size, south + size],
    [west, south + size],
    [west, south],
  ]
}

/** A wheel with teeth; with more of them its area stays and its border grows. */
function gear(x: number, y: number, diameter: number, teeth: number, depth: number): Ring {
  const ring = Array.from({ length: 4 * teeth }, (_, index): [number, number] => {
    const angle = (Math.PI * index) / (2 * teeth)
    const radius = (diameter / 2) * (index % 4 < 2 ? 1 : 1 - depth)
    return [x + radius * Math.cos(angle), y + radius * Math.sin(angle)]
  })
  return [...ring, ring[0] as [number, number]]
}

function sizeOf(ring: Ring): { area_km2: number; border_km: number } {
  let twice = 0
  let border = 0
  for (const [index, [x, y]] of ring.slice(0, -1).entries()) {
    const [nextX, nextY] = ring[index + 1] as [number, number]
    twice += x * nextY - nextX * y
    border += Math.hypot(nextX - x, nextY - y)
  }
  return {
    area_km2: Math.round((Math.abs(twice) / 2) * KILOMETRES_A_DEGREE ** 2),
    border_km: Math.round(border * KILOMETRES_A_DEGREE),
  }
}

async function codesOf({ reader }: Database, level: number): Promise<string[]> {
  const rows = await reader
    .selectFrom('admin_area')
    .select('code')
    .where('country_code', '=', 'eth')
    .where('level', '=', level)
    .orderBy('code')
    .execute()
  return rows.map(({ code }) => code)
}

async function largestRegion({ reader }: Database): Promise<{ code: string; name: string }> {
  return reader
    .selectFrom('admin_area')
    .select(['code', 'name'])
    .where('country_code', '=', 'eth')
    .where('level', '=', 1)
    .orderBy('area_km2', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow()
}

/** What PostGIS alone takes for an area: the tiles clipped and summed up. */
async function timeOfClip({ pool }: Database, code: string): Promise<number> {
  const client = await pool.connect()
  try {
    await client.query('set statement_timeout = 0')
    const started = performance.now()
    await client.query(
      `select (st_summarystatsagg(st_clip(tile.rast, 1, area.geom, true), 1, true)).*
      from (select geom from admin_area where country_code = 'eth' and code = $1) as area
      join raster_tile as tile on st_intersects(tile.rast, area.geom)
      where tile.coverage_id = (
        select coverage.id from coverage
        join publication on publication.release_id = coverage.release_id
        where product = 'fertilizer' and country_code = 'eth'
        order by coverage.width desc limit 1
      )`,
      [code],
    )
    return rounded(performance.now() - started)
  } finally {
    client.release(true)
  }
}
