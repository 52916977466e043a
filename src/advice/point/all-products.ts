import { unnamedReason } from '#schemas/advisory.ts'
import type { ErrorDetail } from '#schemas/common.ts'
import type { PointRequest } from '#schemas/point-request.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { ApiError, type ErrorCode } from '#src/errors.ts'
import { memberTexts } from '#src/lib/json.ts'
import type { Lookup, PointAdvice, PointOutcome } from '#src/lookup/lookup.ts'
import { splitCodes, withReleasesNamed } from '#src/lookup/pinned-request.ts'
import { sourceMember } from '#src/lookup/places.ts'
import {
  describeLocation,
  locationStart,
  makePointData,
  positionOf,
  readSeries,
} from '#src/lookup/releases.ts'
import { dataWithQuantities } from '../quantities/compute.ts'
import { asksForQuantities, type FieldArea } from '../quantities/plan.ts'
import type { QuantityRules, ReadRules } from '../quantities/rules.ts'
import { advise, PointAnswer, type PointAnswerer, QuantityAnswer } from './answer.ts'

/** The reasons that explain most about a place, in their order. */
const TELLING: ErrorCode[] = ['OUTSIDE_COUNTRY', 'NO_DATA', 'NO_RELEASE']

interface ProductOutcome {
  product: ProductDefinition
  outcome: PointOutcome
}

/**
 * Answers for all products at a point: each its data, or its reason for none. Without any value it is an error: the
 * most telling reason, with all of them in the details.
 */
export function allProductsAnswerer(
  products: readonly ProductDefinition[],
  readRules: ReadRules,
): PointAnswerer {
  return {
    readRelease: (lookup, point, request, reply) =>
      withReleasesNamed(lookup, products, point, request, reply),
    fromMemory(lookup, point) {
      if (asksForQuantities(point)) return undefined
      if (!lookup.places.fillFromMemory(point, positionOf(point))) return undefined
      const outcomes: ProductOutcome[] = []
      for (const product of products) {
        const outcome = lookup.adviseFromMemory(readSeries(product, point), positionOf(point))
        if (outcome === undefined) return undefined
        outcomes.push({ product, outcome })
      }
      return createAnswer(point, outcomes)
    },
    async answer(lookup, point, clientKey) {
      const rules = await readRules(point, products)
      const named = point.release === undefined ? undefined : await findNamed(lookup, point.release)
      const outcomes = products.map(async (product): Promise<ProductOutcome> => {
        const release = named?.get(product.code)
        if (!named || release !== undefined) {
          return { product, outcome: await advise(lookup, product, { ...point, release }, clientKey) }
        }
        const { code, error } = unnamedReason(product)
        return { product, outcome: new ApiError(code, error) }
      })
      const answer = createAnswer(point, await Promise.all(outcomes))
      if (!rules || answer instanceof ApiError) return answer
      return new QuantityAnswer(answer.advice, answer.createBody(rules))
    },
  }
}

/** The codes of named releases by their products. */
async function findNamed(lookup: Lookup, list: string): Promise<Map<string, string>> {
  const named = await Promise.all(splitCodes(list).map(lookup.namedRelease))
  return new Map(named.map(({ release }) => [release.product, release.code]))
}

function createAnswer(point: PointRequest, outcomes: ProductOutcome[]): AllProductsAnswer | ApiError {
  const reasons: { product: ProductDefinition; reason: ApiError }[] = []
  const advice: PointAdvice[] = []
  for (const { product, outcome } of outcomes) {
    if (!(outcome instanceof ApiError)) {
      advice.push(outcome)
      continue
    }
    // An invalid request is invalid for all products.
    if (outcome.code === 'INVALID_PARAMETERS') return outcome
    reasons.push({ product, reason: outcome })
  }
  if (advice.length > 0) return new AllProductsAnswer(point, outcomes, advice, reasons.length === 0)

  const telling = TELLING.flatMap((code) => reasons.find(({ reason }) => reason.code === code) ?? [])[0]
  const { code, message } = (telling ?? (reasons[0] as { reason: ApiError })).reason
  const details = reasons.map(
    ({ product, reason }): ErrorDetail => ({
      field: product.code,
      message: reason.message,
      code: reason.code,
    }),
  )
  return new ApiError(code, message, details)
}

/** The sections of all products at a point, at least one with a value. */
class AllProductsAnswer extends PointAnswer {
  readonly #point: PointRequest
  readonly #outcomes: ProductOutcome[]

  constructor(point: PointRequest, outcomes: ProductOutcome[], advice: PointAdvice[], isComplete: boolean) {
    super(advice, isComplete)
    this.#point = point
    this.#outcomes = outcomes
  }

  createBody(rules?: QuantityRules) {
    const area = rules?.plan.area as FieldArea
    const sections = this.#outcomes.map(({ product, outcome }) => {
      if (outcome instanceof ApiError) return [product.code, createReason(product, outcome)]
      const { release, values } = outcome
      const section = rules
        ? dataWithQuantities(rules, product, release, values, area)
        : makePointData(product, release, values)
      return [product.code, section]
    })
    return {
      location: describeLocation(this.#point),
      ...this.#createMembers(),
      ...Object.fromEntries(sections),
    }
  }

  /** The country, and the crop of the products that have one. */
  #createMembers() {
    const releases = this.advice.map(({ release }) => release)
    return {
      country_code: releases[0]?.countryCode,
      crop: releases.find(({ cropCode }) => cropCode !== null)?.cropCode ?? null,
      ...sourceMember(this.#point),
    }
  }

  protected createText() {
    let text = `${locationStart(this.#point)},${memberTexts(this.#createMembers()).join()}`
    for (const { product, outcome } of this.#outcomes) {
      const section =
        outcome instanceof ApiError
          ? JSON.stringify(createReason(product, outcome))
          : outcome.release.writer.section(outcome.values)
      text += `,"${product.code}":${section}`
    }
    return `${text}}`
  }
}

function createReason(product: ProductDefinition, reason: ApiError): object {
  return { [product.entries]: null, ...reason.body }
}
