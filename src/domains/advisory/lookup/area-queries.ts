import { type Kysely, sql } from 'kysely'
import { arrayOf } from '#src/database/arrays.ts'
import type { Tables } from '#src/database/tables.ts'
import type { Position } from './queries.ts'

/** An administrative area, of any level. */
export interface Area {
  id: number
  parentId: number | null
  countryCode: string
  level: number
  code: string
  name: string
}

/** A square by its south-western corner and the length of its sides, in degrees. */
export interface CellToFind {
  west: number
  south: number
  degrees: number
}

/** An area that meets a cell. */
export interface AreaInCell extends Area {
  /** As much of its shape as matters there, as a MultiPolygon in well-known binary; null where all of the cell is in it. */
  shape: Buffer | null
}

/** A row: without an area where none meets the cell. */
type AreaOfCell = { ordinal: number; boundaries: string } & (AreaInCell | { id: null })

export interface FoundCell {
  areas: AreaInCell[]
  /** Which boundaries were asked. */
  boundaries: string
}

const AREA = sql`
  area.id, area.parent_id as "parentId", area.country_code as "countryCode", area.level, area.code, area.name`

/** The areas that meet some cells, in the order of the cells. */
export async function findAreasInCells(db: Kysely<Tables>, cells: CellToFind[]): Promise<FoundCell[]> {
  const { rows } = await sql<AreaOfCell>`
    with boundaries as materialized (select boundaries_version() as version)
    select ${AREA}, st_asbinary(area.shape, 'NDR') as shape, ordinal, boundaries.version as boundaries
    from boundaries
    cross join unnest(
      ${arrayOf(cells.map(({ west }) => west))}::float8[],
      ${arrayOf(cells.map(({ south }) => south))}::float8[],
      ${arrayOf(cells.map(({ degrees }) => degrees))}::float8[]
    ) with ordinality as cell (west, south, degrees, ordinal)
    left join lateral admin_areas_in_cell(west, south, west + degrees, south + degrees) as area on true`.execute(
    db,
  )
  const found = cells.map((): FoundCell => ({ areas: [], boundaries: '' }))
  for (const { ordinal, boundaries, ...area } of rows) {
    const cell = found[ordinal - 1] as FoundCell
    cell.boundaries = boundaries
    if (area.id !== null) cell.areas.push(area)
  }
  return found
}

/** The areas that some places lie in, borders included, in the order of the places. */
export async function findAreasAt(db: Kysely<Tables>, places: Position[]): Promise<Area[][]> {
  const { rows } = await sql<Area & { ordinal: number }>`
    select ${AREA}, ordinal
    from unnest(
      ${arrayOf(places.map(({ longitude }) => longitude))}::float8[],
      ${arrayOf(places.map(({ latitude }) => latitude))}::float8[]
    ) with ordinality as place (longitude, latitude, ordinal)
    cross join lateral admin_areas_at(longitude, latitude) as area`.execute(db)
  const found = places.map((): Area[] => [])
  for (const { ordinal, ...area } of rows) (found[ordinal - 1] as Area[]).push(area)
  return found
}
