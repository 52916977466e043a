import {
  type AdminArea,
  type AdminAreaList,
  type AdminFeatureCollection,
  type AdminReference,
  LEVELS_BELOW,
} from '#schemas/areas.ts'
import { round, roundVisibly } from '#src/lib/round.ts'
import type { AreaRow } from './queries.ts'

/** Decimals of square kilometres, and of degrees in extents and centres (10 cm). */
const AREA_DECIMALS = 2
const DEGREE_DECIMALS = 6

/** A page of areas as the plain answer. */
export function areaList(countryCode: string, rows: AreaRow[], next: string | null): AdminAreaList {
  return {
    items: rows.map(
      (row): AdminArea => ({
        code: row.code,
        name: row.name,
        level: row.level,
        country_code: countryCode,
        parents: parentsOf(row),
        area_km2: roundVisibly(row.area_km2, AREA_DECIMALS),
        bbox: bboxOf(row),
        centroid: {
          lat: round(row.centroid_lat, DEGREE_DECIMALS),
          lng: round(row.centroid_lng, DEGREE_DECIMALS),
        },
        ...(row.geometry && { geometry: row.geometry }),
      }),
    ),
    next_cursor: next,
  }
}

/** A page of areas as GeoJSON. Map programs show the members of objects and lists badly: all is flat. */
export function featureCollection(
  countryCode: string,
  rows: AreaRow[],
  next: string | null,
): AdminFeatureCollection {
  return {
    type: 'FeatureCollection',
    features: rows.map((row) => ({
      type: 'Feature',
      id: row.code,
      bbox: bboxOf(row),
      geometry: row.geometry,
      properties: {
        code: row.code,
        name: row.name,
        level: row.level,
        country_code: countryCode,
        area_km2: roundVisibly(row.area_km2, AREA_DECIMALS),
        centroid_lat: round(row.centroid_lat, DEGREE_DECIMALS),
        centroid_lng: round(row.centroid_lng, DEGREE_DECIMALS),
        ...Object.fromEntries(
          parentsOf(row).flatMap(({ level, code, name }) => [
            [`adm${level}_code`, code],
            [`adm${level}_name`, name],
          ]),
        ),
      },
    })),
    next_cursor: next,
  }
}

function parentsOf(row: AreaRow): AdminReference[] {
  return LEVELS_BELOW.toReversed().flatMap((above) => {
    const [code, name] = [row[`parent_code_${above}`], row[`parent_name_${above}`]]
    return code && name ? [{ level: row.level - above, code, name }] : []
  })
}

function bboxOf({ west, south, east, north }: AreaRow): number[] {
  return [west, south, east, north].map((degrees) => round(degrees, DEGREE_DECIMALS))
}
