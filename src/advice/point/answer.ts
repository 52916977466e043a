import { unnamedReason } from '#schemas/advisory.ts'
import { POINT_DEFAULTS, type PointRequest } from '#schemas/point-request.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { hasQuantities } from '#schemas/quantities.ts'
import { ApiError } from '#src/errors.ts'
import type { Exchange } from '#src/http/exchange.ts'
import { clientKeyOf } from '#src/http/exchange.ts'
import { type CsvValue, csvRow } from '#src/http/formats.ts'
import { closedWith, memberTexts, openText } from '#src/lib/json.ts'
import { splitList } from '#src/lib/names.ts'
import { writeLocation } from '#src/lookup/answer-text.ts'
import type { LayerValues, ReleaseLabels } from '#src/lookup/entries.ts'
import type { Lookup, PointAdvice, PointOutcome } from '#src/lookup/lookup.ts'
import { type LocatableRequest, sourceMember } from '#src/lookup/places.ts'
import {
  describeLocation,
  makePointData,
  makeReleaseMembers,
  positionOf,
  readSeries,
} from '#src/lookup/releases.ts'
import { nameCells, quantityColumns, valueColumns } from '../columns.ts'
import {
  dataWithQuantities,
  type QuantityRules,
  quantitiesAt,
  type ReadRules,
} from '../quantities/compute.ts'
import { asksForQuantities, type FieldArea } from '../quantities/plan.ts'
import { combineReasons, createReason, type ProductReason } from './reasons.ts'

export interface PointSource {
  products: readonly ProductDefinition[]
  /** Whether each product has a section, and a missing country is that of the point. */
  hasSections: boolean
  readRules: ReadRules
}

interface ProductOutcome {
  product: ProductDefinition
  outcome: PointOutcome
}

/** A class: V8 would make a shape for each literal with getters, which outlives its request. */
export class PointAnswer {
  readonly advice: readonly PointAdvice[]
  readonly #source: PointSource
  readonly #point: PointRequest
  readonly #outcomes: readonly ProductOutcome[]
  readonly #rules: QuantityRules | null
  #data: Record<string, unknown> | undefined
  #members: Record<string, unknown> | undefined
  /** Of the products that have a section with values; undefined where the request does not ask. */
  #ofProducts: Map<ProductDefinition, Record<string, unknown>> | undefined
  /** The text without further members and the bracket at its end. */
  #open: string | undefined

  constructor(
    source: PointSource,
    point: PointRequest,
    outcomes: readonly ProductOutcome[],
    advice: readonly PointAdvice[],
    rules: QuantityRules | null,
  ) {
    this.advice = advice
    this.#source = source
    this.#point = point
    this.#outcomes = outcomes
    this.#rules = rules
  }

  get releases(): string[] {
    return this.advice.map(({ release }) => release.code)
  }

  get body(): Record<string, unknown> {
    this.#data ??= this.#createData()
    return { ...this.#data, ...this.#members }
  }

  add(members: Record<string, unknown>): void {
    this.#members = { ...this.#members, ...members }
  }

  /** Adds members to the section of a product, where there are sections. */
  addOf(product: ProductDefinition, members: Record<string, unknown>): void {
    if (!this.#source.hasSections) {
      this.add(members)
      return
    }
    this.#ofProducts ??= new Map()
    this.#ofProducts.set(product, members)
  }

  /** The products that have values. */
  get answered(): { product: ProductDefinition; release: PointAdvice['release'] }[] {
    return this.#outcomes.flatMap(({ product, outcome }) =>
      outcome instanceof ApiError ? [] : [{ product, release: outcome.release }],
    )
  }

  text(): string {
    if (!this.#members && this.#open === undefined) return this.#createText()
    this.#open ??= openText(this.#createText())
    return this.#members ? closedWith(this.#open, memberTexts(this.#members).join()) : `${this.#open}}`
  }

  /** A header and a row, with the columns that batches have. It is for answers without sections. */
  table(): string {
    const { name = POINT_DEFAULTS.name, lat, lng } = this.#point
    const [product] = this.#source.products as [ProductDefinition]
    const { release, values } = this.advice[0] as PointAdvice
    const place = { name, lat, lng, ...makeReleaseMembers(release) }
    const cells = nameCells(valueColumns(product, release, this.#point.condition), values)
    return writeRow(product, release, { ...place, ...cells }, this.#rules, values)
  }

  #createData(): Record<string, unknown> {
    const location = describeLocation(this.#point)
    const sections = this.#outcomes.map(({ product, outcome }) => {
      if (outcome instanceof ApiError) return createReason(product, outcome)
      const { release, values } = outcome
      const data = this.#rules
        ? dataWithQuantities(this.#rules, product, release, values, this.#rules.plan.area as FieldArea)
        : makePointData(product, release, values)
      return this.#ofProducts ? { ...data, ...this.#ofProducts.get(product) } : data
    })
    if (!this.#source.hasSections) return { location, ...sections[0] }
    const named = this.#outcomes.map(({ product }, index) => [product.code, sections[index]])
    return { location, ...this.#describePlace(), ...Object.fromEntries(named) }
  }

  /** The same as JSON, faster than from the data. */
  #createText(): string {
    if (this.#rules) {
      this.#data ??= this.#createData()
      return JSON.stringify(this.#data)
    }
    if (!this.#source.hasSections) {
      const { release, values } = this.advice[0] as PointAdvice
      return release.writer.writePoint(this.#point, values)
    }
    let text = `{${writeLocation(this.#point)},${memberTexts(this.#describePlace()).join()}`
    for (const { product, outcome } of this.#outcomes) {
      const section =
        outcome instanceof ApiError
          ? JSON.stringify(createReason(product, outcome))
          : outcome.release.writer.writeSection(outcome.values)
      text += `,"${product.code}":${this.#withMembers(product, section)}`
    }
    return `${text}}`
  }

  #withMembers(product: ProductDefinition, section: string): string {
    const members = this.#ofProducts?.get(product)
    return members ? closedWith(openText(section), memberTexts(members).join()) : section
  }

  #describePlace() {
    return describeCountry(
      this.advice.map(({ release }) => release),
      this.#point,
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
function createAnswer(
  source: PointSource,
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
    if (!source.hasSections || isOfAll) return outcome
    reasons.push({ product, reason: outcome })
  }
  if (advice.length > 0) return new PointAnswer(source, point, outcomes, advice, rules)

  return combineReasons(reasons)
}

/** The answer from memory, or its error; undefined where the database is needed. */
export function answerFromMemory(
  lookup: Lookup,
  source: PointSource,
  point: PointRequest,
): PointAnswer | ApiError | undefined {
  if (asksForQuantities(point)) return undefined
  const position = positionOf(point)
  if (source.hasSections && !lookup.places.fillFromMemory(point, position)) return undefined
  const outcomes: ProductOutcome[] = []
  for (const product of source.products) {
    const outcome = lookup.adviseFromMemory(readSeries(product, point), position)
    if (outcome === undefined) return undefined
    outcomes.push({ product, outcome })
  }
  return createAnswer(source, point, outcomes, null)
}

/** The answer from memory, or else from the database. @throws {ApiError} the reason for no answer */
export async function answerPoint(
  lookup: Lookup,
  source: PointSource,
  point: PointRequest,
  exchange: Exchange,
): Promise<PointAnswer> {
  const { request } = exchange
  const fromDatabase = async () => {
    const { products, hasSections } = source
    const rules = asksForQuantities(point) ? await source.readRules(point, products) : null
    const releaseOf = await readNamed(lookup, point.release)
    const position = positionOf(point)
    const findOutcome = async (product: ProductDefinition): Promise<ProductOutcome> => {
      const release = releaseOf(product)
      if (release instanceof ApiError) return { product, outcome: release }
      const series = readSeries(product, { ...point, release })
      // A single product without quantities was just missed.
      const found = hasSections || rules ? lookup.adviseFromMemory(series, position) : undefined
      return { product, outcome: found ?? (await lookup.advise(series, position, clientKeyOf(request))) }
    }
    const outcomes = await Promise.all(products.map(findOutcome))
    return createAnswer(source, point, outcomes, rules)
  }
  const answer = answerFromMemory(lookup, source, point) ?? (await exchange.wait(fromDatabase))
  if (answer instanceof Error) throw answer
  return answer
}

/** Finds the release of a product among those that a request names, or why there is none; undefined without a list. */
export async function readNamed({ namedRelease }: Lookup, list: string | undefined) {
  const named = await Promise.all(splitList(list ?? '').map(namedRelease))
  const codes = new Map(named.map(({ release }) => [release.product, release.code]))
  return (product: ProductDefinition): string | ApiError | undefined => {
    if (list === undefined) return undefined
    return codes.get(product.code) ?? new ApiError('NO_RELEASE', unnamedReason(product).error)
  }
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
