import { sql } from 'kysely'
import { formatArray } from '#src/data/sql.ts'
import type { Db } from '#src/data/tables.ts'
import { overloaded, ReplacedMeanwhile } from '#src/errors.ts'
import { RUN_LENGTH, SUMMARY_VERSION, SummaryRun } from '#src/raster/summary.ts'
import type { Layer } from './published.ts'

const WGS84 = 4326

/** Transforms positions into a CRS, in their order: longitudes and latitudes, or positions in another CRS. */
export async function transformPositions(
  db: Db,
  srid: number,
  xs: number[],
  ys: number[],
  from = WGS84,
): Promise<{ x: number; y: number }[]> {
  const { rows } = await sql<{ x: number; y: number }>`
    select st_x(position) as x, st_y(position) as y
    from unnest(${formatArray(xs)}::float8[], ${formatArray(ys)}::float8[])
      with ordinality as requested (x, y, number)
    cross join lateral st_transform(
      st_setsrid(st_makepoint(requested.x, requested.y), ${from}::integer), ${srid}::integer
    ) as position
    order by number`.execute(db)
  return rows
}

/** Blocks of a level that lie side by side: a rectangle of them. */
interface BlockRectangle {
  level: number
  firstRow: number
  lastRow: number
  firstColumn: number
  lastColumn: number
}

/** Reads the means of blocks with a value, in no order. @throws {ApiError} OVERLOADED while they are being made */
export async function readMeans(
  db: Db,
  { coverage: { id }, band }: Layer,
  { level, firstRow, lastRow, firstColumn, lastColumn }: BlockRectangle,
): Promise<{ row: number; column: number; weight: number; mean: number }[]> {
  const runOf = (column: number) => Math.floor(column / RUN_LENGTH)
  const { rows } = await sql<{ summarised: boolean; row: number; column: number; bands: Buffer | null }>`
    select
      summarised and summary_version = ${SUMMARY_VERSION} as summarised,
      block_row as row,
      block_column as column,
      bands
    from coverage
    left join tile_summary
      on tile_summary.coverage_id = ${id}
      and tile_summary.level = ${level}
      and block_row between ${firstRow} and ${lastRow}
      and block_column between ${runOf(firstColumn)} and ${runOf(lastColumn)}
    where coverage.id = ${id}`.execute(db)
  if (!rows[0]) throw new ReplacedMeanwhile()
  if (!rows[0].summarised) throw overloaded()
  const means: Awaited<ReturnType<typeof readMeans>> = []
  for (const { row, column: runColumn, bands } of rows) {
    // A rectangle without a value has one row of nulls.
    if (!bands) continue
    const run = new SummaryRun(bands)
    const first = runColumn * RUN_LENGTH
    const last = Math.min(lastColumn, first + RUN_LENGTH - 1)
    for (let column = Math.max(firstColumn, first); column <= last; column++) {
      const { weight, mean } = run.summary(column - first, band)
      if (weight > 0) means.push({ row, column, weight, mean })
    }
  }
  return means
}
