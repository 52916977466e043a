import { type Kysely, sql } from 'kysely'
import { CRS_UNIT } from '#src/catalog/published-queries.ts'
import type { Tables } from '#src/data/tables.ts'
import type { Position } from '#src/lookup/queries.ts'

/** The pixel of a grid of a release that a position lies in. */
export interface PixelFacts {
  coverageId: number
  srid: number
  column: number
  row: number
  /** The centre in the CRS of the grid, and in longitude and latitude. */
  x: number
  y: number
  longitude: number
  latitude: number
  width: number
  height: number
  unit: string
}

/** Whose a release is, and its pixels at a position: one of each grid that has one there. */
interface SourceOfValues {
  source: string
  licence: string
  checksum: string
  pixels: PixelFacts[]
}

export async function findSourceOfValues(
  db: Kysely<Tables>,
  releaseId: number,
  { longitude, latitude }: Position,
): Promise<SourceOfValues | undefined> {
  const { rows } = await sql<SourceOfValues>`
    select source, licence, checksum, pixels
    from release
    cross join lateral (
      select coalesce(
        json_agg(
          json_build_object(
            'coverageId', id, 'srid', srid, 'column', pixel_column, 'row', pixel_row, 'x', x, 'y', y,
            'longitude', st_x(centre), 'latitude', st_y(centre),
            'width', pixel_width, 'height', abs(pixel_height), 'unit', unit
          ) order by id
        ),
        '[]'
      ) as pixels
      from (
        select
          place.*,
          case
            when place.srid = 4326 then st_makepoint(x, y)
            else st_transform(st_setsrid(st_makepoint(x, y), place.srid), 4326)
          end as centre
        from (
          select
            coverage.id,
            coverage.srid,
            coverage.pixel_width,
            coverage.pixel_height,
            ${CRS_UNIT} as unit,
            cell.pixel_column,
            cell.pixel_row,
            origin_x + (cell.pixel_column + 0.5::float8) * pixel_width as x,
            origin_y + (cell.pixel_row + 0.5::float8) * pixel_height as y
          from coverage
          cross join lateral coverage_cell(coverage, ${longitude}::float8, ${latitude}::float8) as cell
          left join spatial_ref_sys as crs on crs.srid = coverage.srid
          where coverage.release_id = release.id
        ) as place
      ) as located
    ) as pixels
    where release.id = ${releaseId} and status = 'ready'`.execute(db)
  return rows[0]
}
