import { reasonOfUnnamed } from '#schemas/advisory.ts'
import type { ErrorDetail } from '#schemas/common.ts'
import type { PointRequest } from '#schemas/point-request.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { ApiError, type ErrorCode } from '#src/errors.ts'
import { memberTexts } from '#src/lib/json.ts'
import type { Lookup, PointAdvice, PointOutcome } from '#src/lookup/lookup.ts'
import { codesIn, withReleasesNamed } from '#src/lookup/pinned-request.ts'
import { sourceMember } from '#src/lookup/places.ts'
import {
  dataOf,
  locationOf,
  locationStart,
  type PublishedRelease,
  positionOf,
  seriesOf,
  versionOf,
} from '#src/lookup/releases.ts'
import { dataWithQuantities } from '../quantities/compute.ts'
import { type Area, asksForQuantities } from '../quantities/plan.ts'
import type { QuantityRules, ReadRules } from '../quantities/rules.ts'
import { adviseOn, type PointAnswer, type PointAnswerer, QuantityAnswer } from './answer.ts'

/** Which reason says most about the place, where no product has a value. */
const TELLING: ErrorCode[] = ['OUTSIDE_COUNTRY', 'NO_DATA', 'NO_RELEASE']

interface ProductOutcome {
  product: ProductDefinition
  outcome: PointOutcome
}

/**
 * Answers with what all products say at a point: each its data, or its reason for having none.
 *
 * It is an error where none has a value: the reason that says most, with all of them in the details. So it
 * is where the country is none of ours.
 */
export function allProductsAnswerer(
  products: readonly ProductDefinition[],
  readRules: ReadRules,
): PointAnswerer {
  return {
    settled: (lookup, request, call, reply) => withReleasesNamed(lookup, products, request, call, reply),
    fromMemory(lookup, request) {
      if (asksForQuantities(request)) return undefined
      if (!lookup.places.fillFromMemory(request, positionOf(request))) return undefined
      const found: ProductOutcome[] = []
      for (const product of products) {
        const outcome = lookup.adviseFromMemory(seriesOf(product, request), positionOf(request))
        if (outcome === undefined) return undefined
        found.push({ product, outcome })
      }
      return answerOf(request, found)
    },
    async answer(lookup, request, clientKey) {
      const rules = await readRules(request, products)
      const named = request.release === undefined ? undefined : await releasesIn(lookup, request.release)
      const found = products.map(async (product) => {
        const release = named?.get(product.code)
        if (named && release === undefined) return { product, outcome: notNamed(product) }
        return { product, outcome: await adviseOn(lookup, product, { ...request, release }, clientKey) }
      })
      const answer = answerOf(request, await Promise.all(found))
      if (!rules || answer instanceof ApiError) return answer
      return new QuantityAnswer(answer, answer.bodyWith(rules))
    },
  }
}

/** The codes of the releases in a list, by their products. */
async function releasesIn(lookup: Lookup, list: string): Promise<Map<string, string>> {
  const found = await Promise.all(codesIn(list).map(lookup.namedRelease))
  return new Map(found.map(({ release }) => [release.product, release.code]))
}

function notNamed(product: ProductDefinition): ApiError {
  const { code, error } = reasonOfUnnamed(product)
  return new ApiError(code, error)
}

function answerOf(request: PointRequest, found: ProductOutcome[]): AllProductsAnswer | ApiError {
  const reasons: { product: ProductDefinition; reason: ApiError }[] = []
  const releases: PublishedRelease[] = []
  for (const { product, outcome } of found) {
    if (!(outcome instanceof ApiError)) {
      releases.push(outcome.release)
      continue
    }
    // What is wrong with the request itself is wrong for all products.
    if (outcome.code === 'INVALID_PARAMETERS') return outcome
    reasons.push({ product, reason: outcome })
  }
  if (releases.length === 0) return mostTelling(reasons)
  return new AllProductsAnswer(request, found, releases, reasons.length === 0)
}

/** What all products say at a point, where at least one has a value. */
class AllProductsAnswer implements PointAnswer {
  readonly #request: PointRequest
  readonly #found: ProductOutcome[]
  readonly releases: string[]
  readonly versions: string[]
  readonly complete: boolean

  constructor(
    request: PointRequest,
    found: ProductOutcome[],
    releases: PublishedRelease[],
    complete: boolean,
  ) {
    this.#request = request
    this.#found = found
    this.releases = releases.map(({ code }) => code)
    this.versions = releases.map(versionOf)
    this.complete = complete
  }

  get advice() {
    return this.#found.flatMap(({ outcome }): PointAdvice[] => (outcome instanceof ApiError ? [] : [outcome]))
  }

  get body() {
    return this.#bodyOf(({ product, advice }) => dataOf(product, advice.release, advice.values))
  }

  /** The same with quantities: those of each product by itself. */
  bodyWith(rules: QuantityRules) {
    const area = rules.plan.area as Area
    return this.#bodyOf(({ product, advice }) =>
      dataWithQuantities(rules, product, advice.release, advice.values, area),
    )
  }

  #bodyOf(sectionOf: (found: { product: ProductDefinition; advice: PointAdvice }) => object) {
    const sections = this.#found.map(({ product, outcome }) => [
      product.code,
      outcome instanceof ApiError ? reasonOf(product, outcome) : sectionOf({ product, advice: outcome }),
    ])
    return { location: locationOf(this.#request), ...this.#members, ...Object.fromEntries(sections) }
  }

  /** What was answered for: the country, and the crop of the products that have one. */
  get #members() {
    const releases = this.advice.map(({ release }) => release)
    return {
      country_code: releases[0]?.countryCode,
      crop: releases.find(({ cropCode }) => cropCode !== null)?.cropCode ?? null,
      ...sourceMember(this.#request),
    }
  }

  text() {
    let text = `${locationStart(this.#request)},${memberTexts(this.#members).join()}`
    for (const { product, outcome } of this.#found) {
      const section =
        outcome instanceof ApiError
          ? JSON.stringify(reasonOf(product, outcome))
          : outcome.release.writer.section(outcome.values)
      text += `,"${product.code}":${section}`
    }
    return `${text}}`
  }
}

function reasonOf(product: ProductDefinition, reason: ApiError): object {
  return { [product.entries]: null, ...reason.body }
}

function mostTelling(reasons: { product: ProductDefinition; reason: ApiError }[]): ApiError {
  const best = TELLING.flatMap((code) => reasons.find(({ reason }) => reason.code === code) ?? [])[0]
  const { code, message } = (best ?? (reasons[0] as { reason: ApiError })).reason
  const details = reasons.map(
    ({ product, reason }): ErrorDetail => ({
      field: product.code,
      message: reason.message,
      code: reason.code,
    }),
  )
  return new ApiError(code, message, details)
}
