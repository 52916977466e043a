import type { Kysely } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import { findOutlines } from '#src/domains/areas/queries.ts'
import type { ProductDefinition } from '#src/products/define.ts'
import type { ExportForm } from './export.ts'
import { createPropertyWriter } from './feature-properties.ts'
import type { AdvisoryRecord, HistoryRow } from './queries.ts'
import { areaOf, type RecordedAnswer } from './recorded-answer.ts'

/** Items as GeoJSON Features. */
export function featureForm(
  db: Kysely<Tables>,
  products: readonly ProductDefinition[],
  kind: AdvisoryRecord['kind'] | null,
): ExportForm {
  const propertiesOf = createPropertyWriter(products)
  return {
    opening: '{"type":"FeatureCollection","features":[',
    separator: ',',
    closing: (next) => `],"next_cursor":${JSON.stringify(next)}}`,
    async textsOf(rows) {
      const outlines = await outlinesOf(db, rows)
      return rows.map((row, index) => {
        const geometry = outlines[index] ?? JSON.stringify(geometryOf(row, kind))
        const properties = JSON.stringify(propertiesOf(row))
        return `{"type":"Feature","id":"${row.id}","created_at":"${row.created_at}","geometry":${geometry},"properties":${properties}}`
      })
    },
  }
}

/** The outlines that the areas of items have now, as text; undefined where there is none. */
async function outlinesOf(db: Kysely<Tables>, rows: HistoryRow[]): Promise<(string | undefined)[]> {
  const areas = rows.map((row) => {
    const area = areaOf(row)
    return area && { countryCode: row.country_code, code: area.code, level: area.level }
  })
  const wanted = new Map(areas.flatMap((area) => (area ? [[JSON.stringify(area), area] as const] : [])))
  if (wanted.size === 0) return []
  const found = await findOutlines(db, [...wanted.values()])
  const byArea = new Map([...wanted.keys()].map((key, index) => [key, found[index] ?? undefined]))
  return areas.map((area) => byArea.get(JSON.stringify(area)))
}

type Position = number[]

/** What may have been sent as a polygon. */
type SentGeometry =
  | { type: 'Polygon'; coordinates: Position[][] }
  | { type: 'MultiPolygon'; coordinates: Position[][][] }
  | { type: 'Feature'; geometry: SentGeometry }
  | { type: 'FeatureCollection'; features: [{ geometry: SentGeometry }] }

/**
 * What was asked about, without heights, and polygons as MultiPolygons: map programs want one type of
 * geometry in a file. An area whose outline is gone is the point inside that was answered, and in a file of
 * polygons no geometry.
 */
function geometryOf({ request, answer }: HistoryRow, kind: AdvisoryRecord['kind'] | null): object | null {
  const { geometry } = request as { geometry?: SentGeometry }
  if (geometry) return multiPolygonOf(geometry)
  if (kind === 'polygon') return null
  const { lat, lng } = (answer as RecordedAnswer).location
  return { type: 'Point', coordinates: [lng, lat] }
}

function multiPolygonOf(sent: SentGeometry): object {
  if (sent.type === 'Feature') return multiPolygonOf(sent.geometry)
  if (sent.type === 'FeatureCollection') return multiPolygonOf(sent.features[0].geometry)
  const polygons = sent.type === 'Polygon' ? [sent.coordinates] : sent.coordinates
  const coordinates = polygons.map((rings) => rings.map((ring) => ring.map(([lng, lat]) => [lng, lat])))
  return { type: 'MultiPolygon', coordinates }
}
