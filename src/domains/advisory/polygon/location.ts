import type { PolygonAdvice } from './advice.ts'
import type { AreaAdvice } from './area-advisor.ts'
import { roundArea } from './entries.ts'

/** Advice on a polygon, or on an administrative area. */
export type Advice = PolygonAdvice | AreaAdvice

/**
 * The location of the answer for a polygon or an area.
 *
 * @param name the one that was sent
 */
export function locationOf(name: string | undefined, advice: Advice) {
  const { position, statistics } = advice
  const admin = 'admin' in advice ? advice.admin : undefined
  return {
    name: name ?? admin?.name ?? 'Polygon',
    lat: position.latitude,
    lng: position.longitude,
    type: 'polygon',
    area_ha: roundArea(statistics.areaHa),
    ...(admin && { admin }),
  }
}
