/**
 * The service that one would write first: each request is one prepared query over the same tables, which
 * finds the tile and asks ST_Value for each layer. DATABASE_URL names the database, RELEASE the release.
 */
import pg from 'pg'
import type { PointRequest } from '#schemas/advisory.ts'
import { listenForBench } from './listen.ts'
import { PATH, plainFastify } from './route.ts'

const VALUES = `
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
  where coverage.release_id = $1`

interface Layer {
  id: string
  month: string
  input: string
  scenario: string
  decimals: number
}

// The pool has as many connections as the service's.
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 })
const { rows: layers } = await pool.query<Layer>(
  `select release.id, to_char(release.forecast_period, 'FMMonth YYYY') as month, input, scenario, decimals
  from release join layer on layer.release_id = release.id
  where release.code = $1 order by layer.ordinal`,
  [process.env.RELEASE],
)
const [{ id, month }] = layers as [Layer]

const { app, schema } = plainFastify()
app.post<{ Body: PointRequest }>(PATH, { schema }, async ({ body: { lat, lng, name } }, reply) => {
  const { rows } = await pool.query<{ values: (number | null)[] | null }>({
    name: 'values',
    text: VALUES,
    values: [id, lng, lat],
  })
  const values = rows[0]?.values ?? []
  const entries = layers.flatMap(({ input, scenario, decimals }, index) => {
    const value = values[index] ?? null
    if (value === null) return []
    return { fertilizer_type: input, scenario, rate_kg_ha: Number(value.toFixed(decimals)) }
  })
  if (entries.length === 0) return reply.code(404).send({ error: 'There is no value.', code: 'NO_DATA' })
  return {
    location: { name: name ?? 'Point', lat, lng, type: 'point' },
    forecast_period: month,
    fertilizer_data: entries,
  }
})
app.addHook('onClose', () => pool.end())
await listenForBench(app)
