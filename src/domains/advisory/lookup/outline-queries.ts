import { type Kysely, sql } from 'kysely'
import type { Tables } from '#src/database/tables.ts'

/** A piece of an administrative area: they are cut into pieces of few vertices. */
export interface StoredPiece {
  areaId: number
  countryCode: string
  /** A MultiPolygon in well-known binary; null for an area without pieces. */
  shape: Buffer | null
}

/** Vertices a page: a third of a megabyte. */
const PAGE_VERTICES = 20_000

/** Which boundaries are loaded, and how many vertices they have about. */
export async function measureBoundaries(
  db: Kysely<Tables>,
): Promise<{ boundaries: string; vertices: number }> {
  const { rows } = await sql<{ boundaries: string; vertices: number }>`
    select
      boundaries_version() as boundaries,
      (select coalesce(sum(positions), 0) from admin_area)::float8 as vertices`.execute(db)
  return rows[0] as { boundaries: string; vertices: number }
}

/** The pieces of some areas, in the order of these. */
export async function findPiecesAfter(db: Kysely<Tables>, areaId: number): Promise<StoredPiece[]> {
  const { rows } = await sql<StoredPiece>`
    with numbered as (
      select id, country_code, sum(positions) over (order by id) - positions as vertices_before
      from admin_area
      where id > ${areaId}
    )
    select
      numbered.id as "areaId",
      country_code as "countryCode",
      st_asbinary(st_multi(piece.geom), 'NDR') as shape
    from numbered
    left join admin_area_piece as piece on piece.admin_area_id = numbered.id
    where vertices_before < ${sql.lit(PAGE_VERTICES)}
    order by numbered.id`.execute(db)
  return rows
}
