import { type AreaInput, areaInputOf, codesOfProducts } from '#schemas/agent-tools.ts'
import { ApiError } from '#src/errors.ts'
import type { ProductDefinition, Products } from '#src/products/define.ts'
import type { AdviceDesk, Asker, Region } from '../../lookup/advice-desk.ts'
import { type AreaSearch, areaMeant } from '../area-search.ts'
import { leftOut } from '../drafts.ts'
import type { Origins } from '../origins.ts'
import { withSources } from '../sources.ts'
import { defineTool } from '../tool.ts'
import { inOrder, releaseOf, type Section, sectionOf } from '../values.ts'

/** What a release comes to in an administrative area or a polygon. */
export function adviseArea({ list, of }: Products, desk: AdviceDesk, search: AreaSearch, origins: Origins) {
  /** @throws {ApiError} INVALID_PARAMETERS, UNKNOWN_AREA */
  async function regionOf(
    { area, level, polygon, country_code: country }: AreaInput,
    by: Asker,
  ): Promise<Region> {
    if ((area === undefined) === (polygon === undefined)) {
      throw new ApiError(
        'INVALID_PARAMETERS',
        'Send either area, a name or a code, or polygon, as GeoJSON.',
        [{ field: 'area', message: 'exactly one of area and polygon must be sent' }],
      )
    }
    if (area === undefined) return { geometry: polygon, at: 'polygon' }
    const { areas, similar } = await search({ name: area, country_code: country, level }, by)
    const meant = areaMeant(areas)
    if (meant) return meant
    const codes = [...areas, ...similar].map(({ name, code, level, parent }) => {
      return `${code} (${name}, level ${level}${parent === null ? '' : `, in ${parent}`})`
    })
    const [near] = similar
    const sentence =
      areas.length > 0
        ? 'Several areas may be meant: send the code of one.'
        : near
          ? `There is no area with this code or name: did you mean ${near.name} (${near.code})?`
          : 'There is no area with this code or name.'
    throw new ApiError('UNKNOWN_AREA', sentence, [
      {
        field: 'area',
        message: 'area must be the code of one area',
        ...(codes.length > 0 && { allowed: codes }),
      },
    ])
  }

  return defineTool({
    name: 'advise_area',
    title: 'Advice for an area or a field',
    description:
      'Statistics of one product in an administrative area (name or code) or in a polygon: mean weighed by area, min and max of pixels, standard deviation, percentage of the area that has values, and totals (kg, t) for that part where the product has them. For one farm advise_point is nearer to the field. Examples: {"product": "yield", "area": "Amhara", "country_code": "eth"}, {"product": "fertilizer", "polygon": {"type": "Polygon", "coordinates": [[[38.5, 9.5], [38.6, 9.5], [38.6, 9.6], [38.5, 9.5]]]}}',
    input: areaInputOf(codesOfProducts(list)),
    async run(asked, by) {
      const product = of(asked.product)
      const region = await regionOf(asked, by)
      const {
        country_code = 'geometry' in region ? undefined : region.countryCode,
        crop,
        forecast_period,
      } = asked
      const body = await desk.inRegion(product, region, { country_code, crop, forecast_period }, by)
      const section = sectionOf(product, body) as Section
      const draft = (most: number) => ({
        location: body.location,
        country_code: body.country_code,
        crop: body.crop,
        product: product.code,
        unit: product.unit,
        ...releaseOf(section),
        ...tableOf(product, section, most),
        ...leftOut(most, section.entries.length),
      })
      return withSources(draft, await origins.ofReleases([section.release], by))
    },
  })
}

/** Entries in rows: each key is said once. */
function tableOf(product: ProductDefinition, { entries }: Section, most: number) {
  const ordered = inOrder(product, entries)
  return {
    columns: Object.keys(ordered[0] ?? {}),
    rows: ordered.slice(0, most).map((entry) => Object.values(entry)),
  }
}
