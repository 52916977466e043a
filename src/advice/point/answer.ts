import { POINT_DEFAULTS, type PointRequest } from '#schemas/point-request.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { hasQuantities } from '#schemas/quantities.ts'
import { ApiError } from '#src/errors.ts'
import { type CsvValue, csvRow } from '#src/http/formats.ts'
import { openText } from '#src/lib/json.ts'
import { writeBehind, writeLocation } from '#src/lookup/answer-text.ts'
import type { LayerValues, ReleaseLabels } from '#src/lookup/entries.ts'
import type { PointAdvice, PointOutcome } from '#src/lookup/lookup.ts'
import { type LocatableRequest, sourceMember } from '#src/lookup/places.ts'
import { describeLocation, makePointData, makeReleaseMembers } from '#src/lookup/releases.ts'
import type { Answer, Members } from '../answer.ts'
import { nameCells, valueColumns } from '../columns.ts'
import { quantityColumns } from '../quantities/columns.ts'
import { dataWithQuantities, type QuantityRules, quantitiesAt } from '../quantities/compute.ts'
import type { FieldArea } from '../quantities/plan.ts'
import type { ReadRules } from '../quantities/rules.ts'
import { combineReasons, createReason, type ProductReason } from './reasons.ts'

export interface Topic {
  products: readonly ProductDefinition[]
  /** Whether each product has a section, and a missing country is that of the point. */
  hasSections: boolean
  readRules: ReadRules
}

export interface ProductOutcome {
  product: ProductDefinition
  outcome: PointOutcome
}

/** What an answer follows from. */
interface AnsweredPoint {
  topic: Topic
  point: PointRequest
  outcomes: readonly ProductOutcome[]
  /** The outcomes with values. */
  advice: readonly PointAdvice[]
  /** Null without quantities. */
  rules: QuantityRules | null
  /** Its JSON without further members, once it is written: the history and the reply have it. */
  text?: string
}

/** The answer for a point: a class, since V8 would make a shape for each literal with methods, which outlives its request. */
export class PointAnswer implements Answer {
  readonly #of: AnsweredPoint
  /** Behind all others. */
  readonly #members: Members | undefined
  /** Of the products that have a section with values; undefined where the request does not ask. */
  readonly #ofProducts: ReadonlyMap<ProductDefinition, Members> | undefined

  constructor(of: AnsweredPoint, members?: Members, ofProducts?: ReadonlyMap<ProductDefinition, Members>) {
    this.#of = of
    this.#members = members
    this.#ofProducts = ofProducts
  }

  get advice(): readonly PointAdvice[] {
    return this.#of.advice
  }

  get releases(): string[] {
    return this.#of.advice.map(({ release }) => release.code)
  }

  /** The products that have values. */
  get products(): { product: ProductDefinition; release: PointAdvice['release'] }[] {
    return this.#of.outcomes.flatMap(({ product, outcome }) =>
      outcome instanceof ApiError ? [] : [{ product, release: outcome.release }],
    )
  }

  withMembers(members: Members): PointAnswer {
    return new PointAnswer(this.#of, { ...this.#members, ...members }, this.#ofProducts)
  }

  /** With members of each product, in its section where there are sections. */
  withMembersOf(found: ReadonlyMap<ProductDefinition, Members>): PointAnswer {
    if (this.#of.topic.hasSections) return new PointAnswer(this.#of, this.#members, found)
    return this.withMembers(Object.assign({}, ...found.values()))
  }

  describe(): Members {
    return { ...this.#describeOwn(), ...this.#members }
  }

  writeJson(): string {
    const text = this.#ofProducts ? this.#writeOwn() : this.#writeOnce()
    return this.#members ? `${openText(text)}${writeBehind(this.#members)}}` : text
  }

  /** With the columns that batches have. */
  writeTable(): string {
    const { topic, point, advice, rules } = this.#of
    const { name = POINT_DEFAULTS.name, lat, lng } = point
    const [product] = topic.products as [ProductDefinition]
    const { release, values } = advice[0] as PointAdvice
    const place = { name, lat, lng, ...makeReleaseMembers(release) }
    const cells = nameCells(valueColumns(product, release, point.condition), values)
    return writeRow(product, release, { ...place, ...cells }, rules, values)
  }

  #describeOwn(): Members {
    const { topic, point, outcomes, rules } = this.#of
    const location = describeLocation(point)
    const sections = outcomes.map(({ product, outcome }) => {
      if (outcome instanceof ApiError) return createReason(product, outcome)
      const { release, values } = outcome
      const data = rules
        ? dataWithQuantities(rules, product, release, values, rules.plan.area as FieldArea)
        : makePointData(product, release, values)
      return { ...data, ...this.#ofProducts?.get(product) }
    })
    if (!topic.hasSections) return { location, ...sections[0] }
    const named = outcomes.map(({ product }, index) => [product.code, sections[index]])
    return { location, ...this.#describePlace(), ...Object.fromEntries(named) }
  }

  #writeOnce(): string {
    this.#of.text ??= this.#writeOwn()
    return this.#of.text
  }

  /** The same as JSON, faster than from the object. */
  #writeOwn(): string {
    const { topic, point, outcomes, advice, rules } = this.#of
    if (rules) return JSON.stringify(this.#describeOwn())
    if (!topic.hasSections) {
      const { release, values } = advice[0] as PointAdvice
      return release.writer.writePoint(point, values)
    }
    let text = `{${writeLocation(point)}${writeBehind(this.#describePlace())}`
    for (const { product, outcome } of outcomes) {
      const section =
        outcome instanceof ApiError
          ? JSON.stringify(createReason(product, outcome))
          : outcome.release.writer.writeSection(outcome.values)
      const further = this.#ofProducts?.get(product)
      text += `,"${product.code}":${further ? `${openText(section)}${writeBehind(further)}}` : section}`
    }
    return `${text}}`
  }

  #describePlace() {
    const { advice, point } = this.#of
    return describeCountry(
      advice.map(({ release }) => release),
      point,
    )
  }
}

/** The country and the crop of an answer for all products. */
export function describeCountry(
  releases: readonly Pick<ReleaseLabels, 'countryCode' | 'cropCode'>[],
  asked: LocatableRequest,
) {
  return {
    country_code: releases[0]?.countryCode,
    crop: releases.find(({ cropCode }) => cropCode !== null)?.cropCode ?? null,
    ...sourceMember(asked),
  }
}

/** The answer of outcomes; without any value the most telling reason, with all of them in the details. */
export function createAnswer(
  topic: Topic,
  point: PointRequest,
  outcomes: readonly ProductOutcome[],
  rules: QuantityRules | null,
): PointAnswer | ApiError {
  const reasons: ProductReason[] = []
  const advice: PointAdvice[] = []
  for (const { product, outcome } of outcomes) {
    if (!(outcome instanceof ApiError)) {
      advice.push(outcome)
      continue
    }
    // An invalid request is invalid for all products, but each release has its own conditions.
    const isOfAll = outcome.code === 'INVALID_PARAMETERS' && outcome.details?.[0]?.field !== 'condition'
    if (!topic.hasSections || isOfAll) return outcome
    reasons.push({ product, reason: outcome })
  }
  if (advice.length > 0) return new PointAnswer({ topic, point, outcomes, advice, rules })

  return combineReasons(reasons)
}

/** A header and a row of cells by their columns, with the quantities of a product that has them. */
export function writeRow(
  product: ProductDefinition,
  release: ReleaseLabels,
  cells: Record<string, CsvValue>,
  rules: QuantityRules | null,
  values: LayerValues,
): string {
  const further = (asking: QuantityRules) =>
    nameCells(
      quantityColumns(asking, product, release),
      quantitiesAt(asking, product, release, values, asking.plan.area as FieldArea),
    )
  const row = { ...cells, ...(rules && hasQuantities(product) && further(rules)) }
  return csvRow(Object.keys(row)) + csvRow(Object.values(row))
}
