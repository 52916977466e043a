import { QuantitiesInput, QuantitiesOutput } from '#schemas/agent-tools.ts'
import { ApiError, type ErrorCode } from '#src/errors.ts'
import { wordKey } from '#src/lib/name-key.ts'
import { roundVisibly } from '#src/lib/round.ts'
import type { Products } from '#src/products/define.ts'
import type { AdviceBody, AdviceDesk } from '../../lookup/advice-desk.ts'
import { leftOut } from '../drafts.ts'
import { BAG_KG, hectaresOf, isPerHectare, quantityOf } from '../field-quantities.ts'
import type { Origins } from '../origins.ts'
import { placeMeant } from '../place-meant.ts'
import { withSources } from '../sources.ts'
import { defineTool } from '../tool.ts'
import { labelOf, type Section, sectionOf } from '../values.ts'

const COLUMNS = ['product', 'input', 'scenario', 'per_ha', 'total', 'unit', 'bags']

/** As square metres of a hectare are shown. */
const DECIMALS = 4

/** What rates come to on a field. */
export function quantities({ list }: Products, desk: AdviceDesk, origins: Origins) {
  const perHectare = list.filter(isPerHectare)

  return defineTool({
    name: 'quantities',
    title: 'Kilograms and bags for a field',
    description:
      'What the rates at a place come to on a field of a given size: kilograms or tonnes, and whole bags of each input; and the predicted harvest. Give the size with its unit (1 ha = 10,000 m2 = 2.47 acre). Prices are not known here. Example: {"lat": 9.5, "lng": 38.5, "area": 2, "unit": "acre", "bag_kg": 50}',
    input: QuantitiesInput,
    output: QuantitiesOutput,
    async run({ area, unit = 'ha', bag_kg: bag = BAG_KG, scenario, ...asked }, by) {
      const place = await placeMeant(desk, asked, by)
      const body = await desk.atPoint(null, place, by)
      const found = perHectare.flatMap((product) => {
        const section = sectionOf(product, body[product.code] as AdviceBody)
        return section ? [{ product, section }] : []
      })
      if (found.length === 0) throw reasonOf(perHectare.map(({ code }) => body[code] as AdviceBody))
      const hectares = hectaresOf(area, unit)
      const isWanted = scenarioFilter(
        scenario,
        found.map(({ section }) => section),
      )
      const rows = found.flatMap(({ product, section }) =>
        section.entries
          .filter((entry) => isWanted(labelOf(entry.scenario)))
          .map((entry) => {
            const rate = Number(entry[product.value.key])
            const { total, unit, bags } = quantityOf(product, rate, hectares, bag)
            const input = product.input ? labelOf(entry[product.input.key]) : null
            return [product.code, input, labelOf(entry.scenario), rate, total, unit, input && bags]
          }),
      )
      const draft = (most: number) => ({
        lat: place.lat,
        lng: place.lng,
        country_code: place.country_code.trim().toLowerCase(),
        crop: place.crop ?? null,
        area_ha: roundVisibly(hectares, DECIMALS),
        bag_kg: bag,
        columns: COLUMNS,
        rows: rows.slice(0, most),
        synthetic: found.some(({ section }) => section.synthetic),
        ...leftOut(most, rows.length),
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
