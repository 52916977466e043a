import type { Static } from 'typebox'
import {
  type AreaInput,
  areaInputOf,
  codesOfProducts,
  pointInputOf,
  QuantitiesInput,
} from '#schemas/agent-tools.ts'
import type { ProductDefinition, Products } from '#schemas/products/define.ts'
import { hasQuantities, type Quantities, type Quantity } from '#schemas/quantities.ts'
import { ApiError, type ErrorCode } from '#src/errors.ts'
import { wordKey } from '#src/lib/names.ts'
import type { AdviceBody, AdviceService, Asker, Region } from './advice-service.ts'
import { type AreaSearch, areaMeant, type Origins, placeMeant } from './places.ts'
import {
  defineTool,
  inOrder,
  labelOf,
  leftOut,
  releaseOf,
  type Section,
  sectionOf,
  shortenedSentence,
  valuesOf,
  withSources,
} from './tool.ts'

/** What a release comes to in an administrative area or a polygon. */
export function adviseArea(
  { list, of }: Products,
  service: AdviceService,
  search: AreaSearch,
  origins: Origins,
) {
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
      const body = await service.inRegion(product, region, { country_code, crop, forecast_period }, by)
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

/** What the releases say of a point. */
export function advisePoint({ list, of }: Products, service: AdviceService, origins: Origins) {
  return defineTool({
    name: 'advise_point',
    title: 'Advice for a point',
    description:
      'What is published for one place: predicted yield (kg/ha), fertilizer rates (kg/ha), organic inputs (t/ha), forage suitability (score, higher is better), by season scenario; 0 is a value. Rates are per hectare: for a field and its bags call quantities. A product without a value says why in code and error: never make one up. Example: {"lat": 9.5, "lng": 38.5}',
    input: pointInputOf(codesOfProducts(list)),
    async run({ product: code, ...asked }, by) {
      const place = await placeMeant(service, asked, by)
      const product = code === undefined ? null : of(code)
      const body = await service.atPoint(product, place, by)
      const found = (product ? [product] : list).map((one) =>
        foundOf(one, product ? body : (body[one.code] as AdviceBody)),
      )
      const releases = found.flatMap(({ section }) => section?.release ?? [])
      const draft = (most: number) => ({
        lat: place.lat,
        lng: place.lng,
        country_code: place.country_code.trim().toLowerCase(),
        crop: place.crop ?? null,
        products: found.map((one) => saidOf(one, most)),
        ...leftOut(most, ...found.map(({ section }) => section?.entries.length ?? 0)),
      })
      return withSources(draft, await origins.ofReleases(releases, by))
    },
  })
}

interface Found {
  product: ProductDefinition
  section: ReturnType<typeof sectionOf>
  body: AdviceBody
}

function foundOf(product: ProductDefinition, body: AdviceBody): Found {
  return { product, section: sectionOf(product, body), body }
}

function saidOf({ product, section, body }: Found, most: number): object {
  if (!section)
    return { product: product.code, code: body.code, error: shortenedSentence(String(body.error), most) }
  const entries = inOrder(product, section.entries).slice(0, most)
  return {
    product: product.code,
    unit: product.unit,
    values: valuesOf(product, entries),
    ...releaseOf(section),
  }
}

const COLUMNS = ['product', 'input', 'scenario', 'per_ha', 'total', 'unit', 'bags']

/** A section of an answer with quantities. */
type QuantitySection = Section & {
  quantities: Static<typeof Quantities>
}

/** What rates come to on a field, as the endpoint computes it. */
export function quantities({ list }: Products, service: AdviceService, origins: Origins) {
  const perHectare = list.filter(hasQuantities)

  return defineTool({
    name: 'quantities',
    title: 'Kilograms, bags and costs for a field',
    description:
      'Amounts for a field of a given size, from the rates at its place: kilograms or tonnes of each input, and the predicted harvest. With bags: whole bags, rounded up; with prices: costs. 1 ha = 10,000 m2 = 2.47 acre. Example: {"lat": 9.5, "lng": 38.5, "area": "2 acre", "bags": "Urea:50,DAP:50", "prices": "ETB Urea:2250/bag,DAP:52"}',
    input: QuantitiesInput,
    async run({ area, bags, prices, scenario, ...asked }, by) {
      const place = await placeMeant(service, asked, by)
      const body = await service.atPoint(null, { ...place, area, bags, prices }, by)
      const found = perHectare.flatMap((product) => {
        const told = body[product.code] as AdviceBody
        const section = sectionOf(product, told)
        return section ? [{ product, section: { ...told, ...section } as QuantitySection }] : []
      })
      const [first] = found
      if (!first) throw reasonOf(perHectare.map(({ code }) => body[code] as AdviceBody))
      const isWanted = scenarioFilter(
        scenario,
        found.map(({ section }) => section),
      )
      const rows = found.flatMap(({ product, section }) =>
        section.entries
          .filter((entry) => isWanted(labelOf(entry.scenario)))
          .map((entry) => {
            const { kg, t, bags: whole = null } = entry.quantity as unknown as Static<typeof Quantity>
            const input = product.input ? labelOf(entry[product.input.key]) : null
            const rate = entry[product.value.key]
            const [total, unit] = kg === undefined ? [t, 't'] : [kg, 'kg']
            return [product.code, input, labelOf(entry.scenario), rate, total, unit, whole]
          }),
      )
      const costs = found.flatMap(({ product, section }) =>
        (section.quantities.scenarios ?? [])
          .filter((one) => isWanted(labelOf(one.scenario)))
          .map((one) => [product.code, labelOf(one.scenario), one.cost]),
      )
      const currency = found.flatMap(({ section }) => section.quantities.currency ?? [])[0]
      const draft = (most: number) => ({
        lat: place.lat,
        lng: place.lng,
        country_code: place.country_code.trim().toLowerCase(),
        crop: place.crop ?? null,
        area_ha: first.section.quantities.area.ha,
        columns: COLUMNS,
        rows: rows.slice(0, most),
        ...(currency !== undefined && { currency, costs: costs.slice(0, most) }),
        synthetic: found.some(({ section }) => section.synthetic),
        ...leftOut(most, rows.length, costs.length),
      })
      return withSources(
        draft,
        await origins.ofReleases(
          found.map(({ section }) => section.release),
          by,
        ),
      )
    },
  })
}

/** @throws {ApiError} INVALID_PARAMETERS where nothing is published for the scenario */
function scenarioFilter(scenario: string | undefined, sections: Section[]): (name: string) => boolean {
  if (scenario === undefined) return () => true
  const names = [
    ...new Set(sections.flatMap(({ entries }) => entries.map((entry) => labelOf(entry.scenario)))),
  ]
  const wanted = wordKey(scenario)
  if (!names.some((name) => wordKey(name) === wanted)) {
    throw ApiError.invalid('scenario', `must be one of ${names.join(', ')}`, names)
  }
  return (name) => wordKey(name) === wanted
}

/** Why there is no rate, where other products have values. */
function reasonOf([body]: AdviceBody[]): ApiError {
  return new ApiError(body?.code as ErrorCode, String(body?.error))
}
