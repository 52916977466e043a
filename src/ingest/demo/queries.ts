import { sql } from 'kysely'
import type { Db } from '#src/data/tables.ts'

export interface SeatPosition {
  /** Of the lowest level; its beginnings are the codes above. */
  code: string
  longitude: number
  latitude: number
}

interface CutArea {
  level: number
  code: string
  wkb: Buffer
}

/** Cells reach beyond the country, so that its outline alone ends them. */
const BEYOND = 1

/**
 * Areas by the nearest seat, in degrees, which are nearly square near the equator. Upper levels are unions of cells
 * before the outline cuts them, so all levels nest.
 */
export async function cutByNearestSeat(
  db: Db,
  countryCode: string,
  seats: SeatPosition[],
  levels: number[],
): Promise<CutArea[]> {
  const { rows } = await sql<CutArea>`
    with seat as materialized (
      select code, st_setsrid(st_makepoint(longitude, latitude), 4326) as point
      from unnest(
        ${seats.map(({ code }) => code)}::text[],
        ${seats.map(({ longitude }) => longitude)}::float8[],
        ${seats.map(({ latitude }) => latitude)}::float8[]
      ) as seat (code, longitude, latitude)
    ),
    outline as materialized (
      select geom from admin_area where country_code = ${countryCode} and level = 0
    ),
    cell as materialized (
      select (
        st_dump(
          st_voronoipolygons(
            (select st_collect(point) from seat),
            0,
            st_expand(st_envelope(outline.geom), ${sql.lit(BEYOND)})
          )
        )
      ).geom as geom
      from outline
    ),
    area as (
      select
        level,
        array_to_string((string_to_array(seat.code, '-'))[1 : level + 1], '-') as code,
        st_union(cell.geom) as geom
      from cell
      join seat on st_intersects(cell.geom, seat.point)
      cross join unnest(${levels}::integer[]) as level
      group by 1, 2
    )
    select
      area.level,
      area.code,
      st_asbinary(st_multi(st_collectionextract(st_intersection(area.geom, outline.geom), 3))) as wkb
    from area, outline
    order by area.code`.execute(db)
  return rows
}
