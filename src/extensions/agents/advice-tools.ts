import type { Static } from 'typebox'
import type { ProductDefinition, Products } from '#schemas/products/define.ts'
import { hasQuantities, type Quantities, type Quantity } from '#schemas/quantities.ts'
import { ApiError, type ErrorCode } from '#src/errors.ts'
import { wordKey } from '#src/lib/names.ts'
import type { EntryCertainty } from '#src/lookup/certainty.ts'
import type { Entry } from '#src/lookup/entries.ts'
import { defineAreaInput, definePointInput, listProductCodes, QuantitiesInput } from './schemas.ts'
import {
  type AdviceBody,
  countLeftOut,
  describeCondition,
  describeSectionRelease,
  describeSureness,
  formatLabel,
  groupValues,
  pickMembers,
  readSection,
  type Section,
  shortenSentence,
  sortEntries,
  withSources,
} from './tool.ts'
import { defineTool, type LocatedQuestion, type ToolServices } from './tool-services.ts'

/** @throws {ApiError} INVALID_PARAMETERS, UNKNOWN_AREA */
async function findRegion(
  { area, level, polygon, country_code: country }: Static<ReturnType<typeof defineAreaInput>>,
  services: ToolServices,
) {
  if ((area === undefined) === (polygon === undefined)) {
    throw new ApiError('INVALID_PARAMETERS', 'Send either area, a name or a code, or polygon, as GeoJSON.', [
      { field: 'area', message: 'exactly one of area and polygon must be sent' },
    ])
  }
  if (area === undefined) return { geometry: polygon, at: 'polygon' }
  const place = await services.findPlace(area, { country_code: country, level })
  if (place.kind === 'area') return place.area
  const rule =
    place.kind === 'field'
      ? ''
      : `; for a position call advise_point with lat ${place.lat} and lng ${place.lng}`
  throw ApiError.invalid('area', `must be an administrative area${rule}`)
}

export function adviseArea(products: Products) {
  return defineTool({
    name: 'advise_area',
    title: 'Advice for an area or a field',
    description:
      'Statistics of one product in an administrative area (name or code) or in a polygon: mean weighed by area, min and max of pixels, standard deviation, percentage of the area that has values, and totals (kg, t) for that part where the product has them. For one farm advise_point is nearer to the field. Examples: {"product": "yield", "area": "Amhara", "country_code": "eth"}, {"product": "fertilizer", "polygon": {"type": "Polygon", "coordinates": [[[38.5, 9.5], [38.6, 9.5], [38.6, 9.6], [38.5, 9.5]]]}}',
    input: defineAreaInput(listProductCodes(products.list)),
    async run(input, services) {
      const product = products.of(input.product)
      const region = await findRegion(input, services)
      const {
        country_code = 'geometry' in region ? undefined : region.countryCode,
        crop,
        forecast_period,
        condition,
      } = input
      const question = { country_code, crop, forecast_period, condition }
      const { body, sources } = await services.adviseRegion(product, region, question)
      const section = readSection(product, body) as Section
      const draft = (most: number) => ({
        location: body.location,
        country_code: body.country_code,
        crop: body.crop,
        product: product.code,
        unit: product.unit,
        ...describeSectionRelease(section),
        ...makeTable(product, section, most),
        ...pickMembers(body, ['expected']),
        ...describeCondition(product, body, most),
        ...countLeftOut(most, section.entries.length),
      })
      return withSources(draft, sources)
    },
  })
}

/** Entries in rows: each key is said once. */
function makeTable(product: ProductDefinition, { entries }: Section, most: number) {
  const ordered = sortEntries(product, entries).map((entry) => {
    const { range, ...members } = entry as Entry & EntryCertainty
    return { ...members, ...(range && { low: range.low, high: range.high }) } as Record<string, unknown>
  })
  const columns = [...new Set(ordered.flatMap(Object.keys))]
  return {
    columns,
    rows: ordered.slice(0, most).map((entry) => columns.map((column) => entry[column] ?? null)),
  }
}

export function advisePoint({ list, of }: Products) {
  return defineTool({
    name: 'advise_point',
    title: 'Advice for a point',
    description:
      'What is published for one place: predicted yield (kg/ha), fertilizer rates (kg/ha), organic inputs (t/ha), forage suitability (score, higher is better), by season scenario; 0 is a value. Rates are per hectare: for a field and its bags call quantities. A product without a value says why in code and error: never make one up. Example: {"lat": 9.5, "lng": 38.5}',
    input: definePointInput(listProductCodes(list)),
    async run({ product: code, ...input }, services) {
      const point = await services.locateQuestion(input)
      const product = code === undefined ? null : of(code)
      const { body: answer, sources } = await services.advisePoint(product, point)
      const outcomes = (product ? [product] : list).map((one) => {
        const body = product ? answer : (answer[one.code] as AdviceBody)
        return { product: one, body, section: readSection(one, body) }
      })
      const draft = (most: number) => ({
        ...describePoint(point),
        products: outcomes.map((outcome) => describeOutcome(outcome, most)),
        ...countLeftOut(most, ...outcomes.map(({ section }) => section?.entries.length ?? 0)),
      })
      return withSources(draft, sources)
    },
  })
}

function describePoint({ lat, lng, country_code, crop }: LocatedQuestion) {
  return { lat, lng, country_code: country_code.trim().toLowerCase(), crop: crop ?? null }
}

function describeOutcome(
  { product, section, body }: { product: ProductDefinition; section: Section | undefined; body: AdviceBody },
  most: number,
): object {
  if (!section)
    return { product: product.code, code: body.code, error: shortenSentence(String(body.error), most) }
  const entries = sortEntries(product, section.entries).slice(0, most)
  return {
    product: product.code,
    unit: product.unit,
    values: groupValues(product, entries),
    ...describeSureness(product, body, entries),
    ...describeCondition(product, body, most),
    ...describeSectionRelease(section),
  }
}

const COLUMNS = ['product', 'input', 'scenario', 'per_ha', 'total', 'unit', 'bags']

type QuantitySection = Section & {
  quantities: Quantities
}

export function quantities({ list }: Products) {
  const perHectare = list.filter(hasQuantities)

  return defineTool({
    name: 'quantities',
    title: 'Kilograms, bags and costs for a field',
    description:
      'Amounts for a field of a given size, from the rates at its place: kilograms or tonnes of each input, and the predicted harvest. With bags: whole bags, rounded up; with prices: costs. 1 ha = 10,000 m2 = 2.47 acre. Example: {"lat": 9.5, "lng": 38.5, "area": "2 acre", "bags": "Urea:50,DAP:50", "prices": "ETB Urea:2250/bag,DAP:52"}',
    input: QuantitiesInput,
    async run({ area, bags, prices, scenario, ...input }, services) {
      const point = await services.locateQuestion(input)
      const { body: answer, sources } = await services.advisePoint(null, { ...point, area, bags, prices })
      const found = perHectare.flatMap((product) => {
        const body = answer[product.code] as AdviceBody
        const section = readSection(product, body)
        return section ? [{ product, section: { ...body, ...section } as QuantitySection }] : []
      })
      const [first] = found
      if (!first) {
        const { code, error } = answer[(perHectare[0] as ProductDefinition).code] as AdviceBody
        throw new ApiError(code as ErrorCode, String(error))
      }
      const isSelected = scenarioFilter(
        scenario,
        found.map(({ section }) => section),
      )
      const rows = found.flatMap(({ product, section }) =>
        section.entries
          .filter((entry) => isSelected(formatLabel(entry.scenario)))
          .map((entry) => {
            const { kg, t, bags: whole = null } = entry.quantity as unknown as Quantity
            const input = product.input ? formatLabel(entry[product.input.key]) : null
            const rate = entry[product.value.key]
            const [total, unit] = kg === undefined ? [t, 't'] : [kg, 'kg']
            return [product.code, input, labelRow(entry), rate, total, unit, whole]
          }),
      )
      const costs = found.flatMap(({ product, section }) =>
        (section.quantities.scenarios ?? [])
          .filter((one) => isSelected(formatLabel(one.scenario)))
          .map((one) => [product.code, labelRow(one), one.cost]),
      )
      const currency = found.flatMap(({ section }) => section.quantities.currency ?? [])[0]
      const draft = (most: number) => ({
        ...describePoint(point),
        area_ha: first.section.quantities.area.ha,
        columns: COLUMNS,
        rows: rows.slice(0, most),
        ...(currency !== undefined && { currency, costs: costs.slice(0, most) }),
        ...Object.assign(
          {},
          ...found.map(({ section }) => pickMembers({ ...section }, ['condition_source', 'question'])),
        ),
        synthetic: found.some(({ section }) => section.synthetic),
        ...countLeftOut(most, rows.length, costs.length),
      })
      const releases = found.map(({ section }) => section.release)
      return withSources(
        draft,
        sources.filter(({ of }) => releases.includes(of)),
      )
    },
  })
}

function labelRow({ scenario, condition }: { scenario?: unknown; condition?: unknown }): string {
  return [scenario, ...(condition ? [condition] : [])].map(formatLabel).join(', ')
}

/** @throws {ApiError} INVALID_PARAMETERS where nothing is published for the scenario */
function scenarioFilter(scenario: string | undefined, sections: Section[]): (name: string) => boolean {
  if (scenario === undefined) return () => true
  const names = [
    ...new Set(sections.flatMap(({ entries }) => entries.map((entry) => formatLabel(entry.scenario)))),
  ]
  const requested = wordKey(scenario)
  if (!names.some((name) => wordKey(name) === requested)) {
    throw ApiError.invalid('scenario', `must be one of ${names.join(', ')}`, names)
  }
  return (name) => wordKey(name) === requested
}
