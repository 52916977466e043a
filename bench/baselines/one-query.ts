/**
 * The service that one would write first: each request is one prepared query that finds the tile and asks
 * ST_Value for each layer. DATABASE_URL names the database, RELEASE the release, and TABLE which tiles.
 */
import pg from 'pg'
import type { PointRequest } from '#schemas/point-request.ts'
import { RASTER_TABLE } from './raster-table.ts'
import { listenForBench, PATH, plainFastify } from './route.ts'

/** The values of all layers at the point ($2, $3) of the release $1, by where the tiles are. */
const QUERIES = {
  /** The index on the tiles' outlines finds the tile; ST_Intersects would look closer, and take longer. */
  raster2pgsql: `
    select array_agg(
      st_value(tile.rast, layer.band, point) * layer.scale + layer."offset" order by layer.ordinal
    ) as "values"
    from st_setsrid(st_makepoint($2, $3), 4326) as point
    join ${RASTER_TABLE} as tile on st_convexhull(tile.rast) && point
    cross join layer
    where layer.release_id = $1`,
  /** The service's own tiles, found by row and column. */
  service: `
    select array_agg(
      st_value(tile.rast, layer.band, pixel.x % coverage.tile_size + 1, pixel.y % coverage.tile_size + 1)
        * layer.scale + layer."offset"
      order by layer.ordinal
    ) as "values"
    from coverage
    cross join lateral (
      select
        floor(($2::float8 - coverage.origin_x) / coverage.pixel_width)::integer as x,
        floor(($3::float8 - coverage.origin_y) / coverage.pixel_height)::integer as y
    ) as pixel
    join raster_tile as tile
      on tile.coverage_id = coverage.id
      and tile.tile_row = pixel.y / coverage.tile_size
      and tile.tile_column = pixel.x / coverage.tile_size
    join layer on layer.coverage_id = coverage.id
    where coverage.release_id = $1`,
}
const text = QUERIES[process.env.TABLE as keyof typeof QUERIES]

interface Layer {
  id: string
  code: string
  country: string
  crop: string
  synthetic: boolean
  period: string
  month: string
  input: string
  scenario: string
  decimals: number
}

// The pool has as many connections as the service's.
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 })
const { rows: layers } = await pool.query<Layer>(
  `select
    release.id, code, country_code as country, crop_code as crop, synthetic, to_char(release.forecast_period, 'FMMonth YYYY') as period,
    to_char(release.forecast_period, 'YYYY-MM') as month, input, scenario, decimals
  from release join layer on layer.release_id = release.id
  where release.code = $1 order by layer.ordinal`,
  [process.env.RELEASE],
)
const [{ id, code, country, crop, synthetic, period, month }] = layers as [Layer]

const { app, schema } = plainFastify()
app.post<{ Body: PointRequest }>(PATH, { schema }, async ({ body: { lat, lng, name } }, reply) => {
  const { rows } = await pool.query<{ values: (number | null)[] | null }>({
    name: 'values',
    text,
    values: [id, lng, lat],
  })
  const values = rows[0]?.values ?? []
  const entries = layers.flatMap(({ input, scenario, decimals }, index) => {
    const value = values[index] ?? null
    if (value === null) return []
    return { fertilizer_type: input, scenario, rate_kg_ha: Number(value.toFixed(decimals)) }
  })
  if (entries.length === 0) {
    return reply.code(404).send({ error: 'There is no value.', code: 'NO_DATA', request_id: 'none' })
  }
  return {
    location: { name: name ?? 'Point', lat, lng, type: 'point' },
    country_code: country,
    crop,
    forecast_period: period,
    forecast_month: month,
    release: code,
    synthetic,
    fertilizer_data: entries,
  }
})
app.addHook('onClose', () => pool.end())
await listenForBench(app)
