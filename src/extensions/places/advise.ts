import type { PointRequest } from '#schemas/point-request.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { hasQuantities } from '#schemas/quantities.ts'
import { readMembers } from '#src/advice/additions.ts'
import { type Answer, answerFrom, type Members } from '#src/advice/answer.ts'
import { nameCells } from '#src/advice/columns.ts'
import { readNamed } from '#src/advice/point/advise.ts'
import { describeCountry, writeRow } from '#src/advice/point/answer.ts'
import { combineReasons, createReason, type ProductReason } from '#src/advice/point/reasons.ts'
import type { Advisors } from '#src/advice/polygon/advisors.ts'
import { type Advice, describeRegion, makeRegionData } from '#src/advice/polygon/answer.ts'
import { listStatisticKeys, readMeans, regionColumns } from '#src/advice/polygon/figures.ts'
import type { Outline } from '#src/advice/polygon/geometry.ts'
import { type QuantityRules, quantitiesAt, withQuantities } from '#src/advice/quantities/compute.ts'
import { asksForQuantities, type FieldArea } from '#src/advice/quantities/plan.ts'
import type { ReadRules } from '#src/advice/quantities/rules.ts'
import type { AreaReference } from '#src/catalog/area-queries.ts'
import { ApiError } from '#src/errors.ts'
import type { Exchange } from '#src/http/exchange.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import { withReleaseNamed } from '#src/lookup/pinned-request.ts'
import { type LocatableRequest, sourceMember } from '#src/lookup/places.ts'
import { makeReleaseMembers } from '#src/lookup/releases.ts'

export interface RegionParts {
  lookup: Lookup
  advisors: Advisors
  readRules: ReadRules
}

/** A question about an area or a saved field. */
interface RegionQuestion {
  products: readonly ProductDefinition[]
  /** Whether each product has a section. */
  hasSections: boolean
  where: AreaReference | Outline
  asked: Omit<PointRequest, 'lat' | 'lng'> & LocatableRequest
}

interface RegionOutcome {
  product: ProductDefinition
  advice: Advice
  data: Record<string, unknown>
}

interface RegionAnswer {
  answer: Answer
  /** The products that have values. */
  products: ProductDefinition[]
}

/**
 * Answers with the means of an area or a saved field, one product after the other. Amounts of an area are for a field
 * of the asked size in it, those of a saved field for all of it.
 *
 * @throws {ApiError} the reason for no value of any product
 */
export async function adviseOnRegion(
  { lookup, advisors, readRules }: RegionParts,
  { products, hasSections, where, asked: sent }: RegionQuestion,
  exchange: Exchange,
): Promise<RegionAnswer> {
  const asked = await withReleaseNamed(lookup, products, sent, exchange)
  await exchange.wait(() => lookup.places.fillCrop(asked))
  const isArea = 'code' in where
  const readFor = () => readRules(asked, products, isArea ? 'request' : 'polygons')
  const rules = asksForQuantities(asked) ? await exchange.wait(readFor) : null
  const releaseOf = await readNamed(lookup, asked.release)

  async function adviseOn(product: ProductDefinition): Promise<RegionOutcome> {
    const release = releaseOf(product)
    if (release instanceof ApiError) throw release
    const own = { ...asked, ...(release !== undefined && { release }) }
    const advice = await advisors.advise(exchange, where, { product, asked: own, distribution: null })
    Object.assign(asked, sourceMember(own))
    const data =
      isArea && rules ? withAmounts(product, advice, rules) : makeRegionData(product, advice, rules)
    Object.assign(data, await readMembers(asked, product, advice, exchange))
    return { product, advice, data }
  }

  const found: RegionOutcome[] = []
  const reasons: ProductReason[] = []
  const sections: [code: string, section: Members][] = []
  for (const product of products) {
    try {
      const outcome = await adviseOn(product)
      found.push(outcome)
      const members = { ...makeReleaseMembers(outcome.advice.release), ...sourceMember(asked) }
      sections.push([product.code, { ...members, ...outcome.data }])
    } catch (error) {
      if (!hasSections || !(error instanceof ApiError) || error.status >= 500) throw error
      reasons.push({ product, reason: error })
      sections.push([product.code, createReason(product, error)])
    }
  }
  const [first] = found
  if (!first) throw combineReasons(reasons)
  const location = describeRegion(asked.name, first.advice)
  const labels = found.map(({ advice }) => advice.release)
  const body = hasSections
    ? { location, ...describeCountry(labels, asked), ...Object.fromEntries(sections) }
    : { location, ...sections[0]?.[1] }
  const writeTable = () => writeRegion(first, location, isArea ? rules : null, asked.condition)
  const codes = labels.map(({ code }) => code)
  return { answer: answerFrom(body, codes, writeTable), products: found.map(({ product }) => product) }
}

/** The means of an area on a field of a size: of the field nothing else is known. */
function withAmounts(
  product: ProductDefinition,
  advice: Advice,
  rules: QuantityRules,
): Record<string, unknown> {
  const data = makeRegionData(product, advice, null)
  if (!hasQuantities(product)) return data
  const area = rules.plan.area as FieldArea
  return withQuantities(product, data, quantitiesAt(rules, product, advice.release, listMeans(advice), area))
}

function listMeans(advice: Advice): number[] {
  return readMeans(advice.release, advice).map((mean) => mean ?? Number.NaN)
}

function writeRegion(
  { product, advice }: RegionOutcome,
  { type: _, admin: __, ...place }: ReturnType<typeof describeRegion>,
  rules: QuantityRules | null,
  condition: string | undefined,
): string {
  const { release, statistics } = advice
  const columns = regionColumns(product, release, listStatisticKeys(product), condition)
  const cells = { ...place, ...makeReleaseMembers(release), ...nameCells(columns, statistics) }
  return writeRow(product, release, cells, rules, listMeans(advice))
}
