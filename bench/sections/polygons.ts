import type { Polygon } from 'geojson'
import { type Bench, median, say } from '../bench.ts'
import { ask, join } from '../load/client.ts'
import type { DatabaseServer } from '../postgres.ts'
import { boundaryKm, hectareAround, star } from '../rasters/shapes.ts'
import type { PolygonsResult } from '../results.ts'
import { startService } from '../service.ts'

const PATH = '/advisory/fertilizer'
const FIELDS = 200
const WARM_CALLS = 20
/** The middle of the extent, and stars around it that reach nearly to its edges. */
const MIDDLE = { lat: 9.9, lng: 38.3 }
const RADII = [0.125, 0.25, 0.5, 1, 2]
const SPIKES = [8, 16, 32, 64, 128]
/** What the shapes keep while the other quantity grows. */
const FEW_SPIKES = 8
const STILL_RADIUS = 1

interface Area {
  code: string
  name: string
  level: number
}

/** Asks for the advice of a place, and gives the milliseconds; undefined where there is no value. */
type AskFor = (place: object) => Promise<{ ms: number; areaKm2: number } | undefined>

/** Advice for fields, zones and the largest region, one request at a time, on a service without cached results. */
export async function measurePolygons(
  bench: Bench,
  server: DatabaseServer,
  url: string,
  release: string,
): Promise<PolygonsResult> {
  say('polygons')
  const service = await startService(bench.cleanup, { DATABASE_URL: url })
  const member = await join(service)
  const askFor: AskFor = async (place) => {
    const { status, body, ms } = await ask(member, { path: PATH, body: { ...place, crop: 'wheat' } })
    if (status === 200) return { ms, areaKm2: JSON.parse(body).location.area_ha / 100 }
    if (status !== 404) bench.problems.push(`a polygon was answered ${status} ${body.slice(0, 300)}`)
    return undefined
  }
  const forget = () => server.execute(url, 'delete from area_result')
  const [largest] = await areasOf(server, url, 1)
  if (!largest) throw new Error('there are no regions')

  const fieldsFrom = (from: number) => bench.places.uniform.slice(from, from + FIELDS).map(hectareAround)
  // The first ones are for V8, which compiles what is asked for often.
  await timesOf(fieldsFrom(FIELDS), askFor)
  const fields = await timesOf(fieldsFrom(0), askFor)
  await forget()
  const zones: number[] = []
  for (const area of await areasOf(server, url, 2)) {
    const answer = await askFor(adminOf(area))
    if (answer) zones.push(answer.ms)
  }
  const regionCold: number[] = []
  const reference: number[] = []
  for (let round = 0; round < bench.effort.rounds; round++) {
    await forget()
    regionCold.push((await askFor(adminOf(largest)))?.ms ?? Number.NaN)
    reference.push(await clipMilliseconds(server, url, release, largest))
  }
  const regionWarm: number[] = []
  for (let call = 0; call < WARM_CALLS; call++) {
    regionWarm.push((await askFor(adminOf(largest)))?.ms ?? Number.NaN)
  }
  const shapes = await measureShapes(bench, askFor)
  await service.stop()
  return {
    field: median(fields),
    zones: zones.length,
    zone: median(zones),
    region: largest.name,
    regionCold: median(regionCold),
    regionWarm: median(regionWarm),
    timesFasterThanClip: median(reference.map((ms, round) => ms / (regionCold[round] as number))),
    shapes,
  }
}

/** Time by area with the same shape, and by the boundary's length with the same area. */
async function measureShapes({ effort }: Bench, askFor: AskFor): Promise<PolygonsResult['shapes']> {
  const polygons = [
    ...RADII.map((radius) => ({ series: 'area' as const, polygon: star(MIDDLE, radius, FEW_SPIKES) })),
    ...SPIKES.map((spikes) => ({ series: 'boundary' as const, polygon: star(MIDDLE, STILL_RADIUS, spikes) })),
  ]
  const rows: PolygonsResult['shapes'] = []
  for (const { series, polygon } of polygons) {
    const times: number[] = []
    let areaKm2 = Number.NaN
    for (let round = 0; round < effort.roundsOfLimits; round++) {
      const answer = await askFor({ geometry: polygon })
      if (!answer) continue
      times.push(answer.ms)
      areaKm2 = answer.areaKm2
    }
    rows.push({ series, areaKm2, boundaryKm: boundaryKm(polygon), ms: median(times) })
  }
  return rows
}

async function timesOf(polygons: Polygon[], askFor: AskFor): Promise<number[]> {
  const times: number[] = []
  for (const geometry of polygons) {
    const answer = await askFor({ geometry })
    if (answer) times.push(answer.ms)
  }
  return times
}

function adminOf({ code, level }: Area): object {
  return { admin: { country_code: 'eth', code, level } }
}

/** Ethiopia's areas of a level, the largest first. */
async function areasOf(server: DatabaseServer, url: string, level: number): Promise<Area[]> {
  return (await server.execute(
    url,
    `select code, name, level from admin_area
    where country_code = 'eth' and level = ${level} order by area_km2 desc`,
  )) as Area[]
}

/** How long PostGIS's own functions take for the same layers. */
async function clipMilliseconds(
  server: DatabaseServer,
  url: string,
  release: string,
  { code, level }: Area,
): Promise<number> {
  const started = performance.now()
  await server.execute(
    url,
    `select layer.ordinal, (st_summarystatsagg(clipped.rast, layer.band, true)).*
    from (
      select tile.coverage_id, st_clip(tile.rast, area.geom, true) as rast
      from release
      join coverage on coverage.release_id = release.id
      join raster_tile as tile on tile.coverage_id = coverage.id
      join admin_area as area on st_intersects(tile.rast, area.geom)
      where release.code = '${release}' and area.country_code = 'eth'
        and area.level = ${level} and area.code = '${code}'
      offset 0
    ) as clipped
    join layer on layer.coverage_id = clipped.coverage_id
    group by layer.ordinal`,
  )
  return performance.now() - started
}
