import { sql } from 'kysely'
import { type Provenance, provenanceSchemas } from '#schemas/advisory.ts'
import type { PointRequest } from '#schemas/point-request.ts'
import { CRS_UNIT } from '#src/catalog/published-queries.ts'
import type { Db } from '#src/data/tables.ts'
import { overloaded, refuseIfReplaced } from '#src/errors.ts'
import type { Exchange } from '#src/http/exchange.ts'
import type { StoredPixels } from '#src/lookup/entries.ts'
import { conditionMember, type Position } from '#src/lookup/layers.ts'
import type { Lookup, PointAdvice } from '#src/lookup/lookup.ts'
import { positionOf } from '#src/lookup/releases.ts'
import type { AnswerMember } from '../additions.ts'

/** The pixel of a grid of a release that a position lies in. */
type PixelFacts = Omit<Provenance['pixels'][number], 'layers'> & { coverageId: number }

/** Whose a release is, and its pixels at a position: one of each grid that has one there. */
interface SourceOfValues {
  source: string
  licence: string
  checksum: string
  pixels: PixelFacts[]
}

export async function findSourceOfValues(
  db: Db,
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
            'coverageId', id, 'srid', srid, 'column', pixel_column, 'row', pixel_row,
            'centre', json_build_object('x', x, 'y', y, 'lng', st_x(centre), 'lat', st_y(centre)),
            'size', json_build_object('x', pixel_width, 'y', abs(pixel_height), 'unit', unit)
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

export const createProvenance = (lookup: Lookup): AnswerMember => ({
  ...provenanceSchemas,
  of: 'pixels',
  isKeptOfTexts: true,
  read: (point, advice, exchange) => findProvenance(lookup, point, advice, exchange),
})

/** The pixels of an answer. @throws {ApiError} OVERLOADED where a release was deleted after it answered */
async function findProvenance(
  lookup: Lookup,
  point: PointRequest,
  advice: readonly PointAdvice[],
  exchange: Exchange,
): Promise<Provenance[]> {
  const { request } = exchange
  const { database } = request.server
  const position = positionOf(point)
  const found: Provenance[] = []
  for (const { release, values } of advice) {
    const origin = await exchange.withDatabasePermit(() =>
      findSourceOfValues(database.reader, release.id, position),
    )
    if (!origin) throw overloaded()
    const stored = await refuseIfReplaced(() => exchange.wait(() => lookup.storedAt(release, position)))
    const { source, licence, checksum } = origin
    const pixels = origin.pixels.map((pixel) => describePixel(pixel, release, values, stored))
    found.push({
      release: release.code,
      source,
      licence,
      checksum,
      pixels: pixels.filter(({ layers }) => layers.length > 0),
    })
  }
  return found
}

function describePixel(
  { coverageId, ...pixel }: PixelFacts,
  release: PointAdvice['release'],
  values: PointAdvice['values'],
  stored: StoredPixels[],
): Provenance['pixels'][number] {
  const layers = [...release.layers, ...release.companions].flatMap((layer, index) => {
    if (layer.coverageId !== coverageId || Number.isNaN(values[index])) return []
    const { input, scenario, scale, offset, coverage, band } = layer
    const raw = stored[coverage]?.[band - 1] as number
    const named = { input, scenario, ...conditionMember(layer), ...('role' in layer && { role: layer.role }) }
    return [{ layer: index + 1, ...named, raw, scale, offset }]
  })
  return { ...pixel, layers }
}
