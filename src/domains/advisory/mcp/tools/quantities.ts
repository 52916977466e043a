import type { Static } from 'typebox'
import { QuantitiesInput } from '#schemas/agent-tools.ts'
import { hasQuantities, type Quantities, type Quantity } from '#schemas/quantity-answers.ts'
import { ApiError, type ErrorCode } from '#src/errors.ts'
import { wordKey } from '#src/lib/name-key.ts'
import type { Products } from '#src/products/define.ts'
import type { AdviceBody, AdviceDesk } from '../../lookup/advice-desk.ts'
import { leftOut } from '../drafts.ts'
import type { Origins } from '../origins.ts'
import { placeMeant } from '../place-meant.ts'
import { withSources } from '../sources.ts'
import { defineTool } from '../tool.ts'
import { labelOf, type Section, sectionOf } from '../values.ts'

const COLUMNS = ['product', 'input', 'scenario', 'per_ha', 'total', 'unit', 'bags']

/** A section of an answer with quantities. */
type QuantitySection = Section & {
  quantities: Static<typeof Quantities>
}

/** What rates come to on a field, as the endpoint computes it. */
export function quantities({ list }: Products, desk: AdviceDesk, origins: Origins) {
  const perHectare = list.filter(hasQuantities)

  return defineTool({
    name: 'quantities',
    title: 'Kilograms, bags and costs for a field',
    description:
      'Amounts for a field of a given size, from the rates at its place: kilograms or tonnes of each input, and the predicted harvest. With bags: whole bags, rounded up; with prices: costs. 1 ha = 10,000 m2 = 2.47 acre. Example: {"lat": 9.5, "lng": 38.5, "area": "2 acre", "bags": "Urea:50,DAP:50", "prices": "ETB Urea:2250/bag,DAP:52"}',
    input: QuantitiesInput,
    async run({ area, bags, prices, scenario, ...asked }, by) {
      const place = await placeMeant(desk, asked, by)
      const body = await desk.atPoint(null, { ...place, area, bags, prices }, by)
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
