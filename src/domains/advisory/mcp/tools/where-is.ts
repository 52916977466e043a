import { WhereIsInput } from '#schemas/agent-tools.ts'
import type { LocationValidation } from '#schemas/location.ts'
import { ApiError } from '#src/errors.ts'
import { roundDegrees } from '#src/lib/round.ts'
import type { AdviceDesk, Asker } from '../../lookup/advice-desk.ts'
import type { AreaSearch } from '../area-search.ts'
import { type Draft, leftOut, shortened } from '../drafts.ts'
import type { Origins } from '../origins.ts'
import type { NamedArea } from '../queries.ts'
import { withSources } from '../sources.ts'
import { defineTool } from '../tool.ts'

/** In which country and areas a point lies, or where an area of a name is. */
export function whereIs(desk: AdviceDesk, search: AreaSearch, origins: Origins) {
  async function ofPoint(lat: number, lng: number, country: string | undefined, by: Asker): Promise<Draft> {
    const found = await desk.whereIs(
      { lat, lng, ...(country !== undefined && { country_code: country }) },
      by,
    )
    const { country_code, nearest, hint } = found
    const draft = () => ({
      country_code,
      country: found.country,
      areas: found.admin,
      crop: found.crop,
      available: availableOf(found),
      ...(nearest && { nearest }),
      ...(hint && { hint }),
    })
    return withSources(draft, await origins.ofBoundaries(country_code === null ? [] : [country_code]))
  }

  async function named(name: string, country: string | undefined, by: Asker): Promise<Draft> {
    const { areas, similar } = await search({ name, country_code: country }, by)
    const draft = (most: number) => ({
      areas: listed(areas, most),
      ...(similar.length > 0 && { did_you_mean: listed(similar, most) }),
      ...leftOut(most, areas.length, similar.length),
    })
    const countries = [...areas, ...similar].map(({ countryCode }) => countryCode)
    return withSources(draft, await origins.ofBoundaries(countries))
  }

  return defineTool({
    name: 'where_is',
    title: 'Where a place is',
    description:
      'For a point: its country, its administrative areas, and which products have a value there (or why not). For a name or a part of one: areas that match, with codes for advise_area and the centre of each (not a place in a field). Villages, roads and addresses are not known. Examples: {"lat": -1.95, "lng": 30.06}, {"name": "Amhara", "country_code": "eth"}',
    input: WhereIsInput,
    async run({ lat, lng, name, country_code }, by) {
      if (lat !== undefined && lng !== undefined) return ofPoint(lat, lng, country_code, by)
      if (lat !== undefined || lng !== undefined) {
        throw ApiError.invalid(lat === undefined ? 'lat' : 'lng', 'is required with the other')
      }
      if (name === undefined) throw ApiError.invalid('name', 'is required where lat and lng are left out')
      return named(name, country_code, by)
    },
  })
}

function listed(areas: readonly NamedArea[], most: number): object[] {
  return areas.slice(0, most).map(({ countryCode, level, code, parent, lat, lng, ...area }) => ({
    country_code: countryCode,
    level,
    code,
    name: shortened(area.name, most),
    ...(parent !== null && { in: shortened(parent, most) }),
    lat: roundDegrees(lat),
    lng: roundDegrees(lng),
  }))
}

function availableOf({ products }: LocationValidation): object {
  const entries = Object.entries(products as LocationValidation['products'])
  return Object.fromEntries(entries.map(([code, { available, reason }]) => [code, available || reason]))
}
