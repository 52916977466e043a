import { type AdminReference, LEVELS_BELOW } from '#schemas/areas.ts'
import type { Area } from '../lookup/area-queries.ts'

/** The country a point lies in, and its areas there. */
export interface Place {
  countryCode: string
  /** From level 1 down, at most one a level. */
  admin: AdminReference[]
}

/**
 * Chooses among the areas that a point lies in. Most points lie in one a level; those on a border lie in
 * several, and get the one of lowest code: in the country that was asked for if it is among them, and
 * below the area chosen one level up wherever there is one.
 */
export function placeOf(areas: readonly Area[], wantedCountry: string | undefined): Place | undefined {
  const codes = areas.map(({ countryCode }) => countryCode)
  const countryCode = wantedCountry && codes.includes(wantedCountry) ? wantedCountry : codes.sort()[0]
  if (countryCode === undefined) return undefined
  const admin: AdminReference[] = []
  let above: Area | undefined
  for (const level of LEVELS_BELOW) {
    const candidates = areas
      .filter((area) => area.countryCode === countryCode && area.level === level)
      .sort(byCode)
    const chosen: Area | undefined =
      candidates.find(({ parentId }) => parentId === above?.id) ?? candidates[0]
    if (!chosen) continue
    admin.push({ level, code: chosen.code, name: chosen.name })
    above = chosen
  }
  return { countryCode, admin }
}

function byCode(a: Area, b: Area): number {
  return a.code < b.code ? -1 : 1
}
