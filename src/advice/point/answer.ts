import type { FastifyReply, FastifyRequest } from 'fastify'
import { POINT_DEFAULTS, type PointRequest } from '#schemas/point-request.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { hasQuantities } from '#schemas/quantities.ts'
import { ApiError } from '#src/errors.ts'
import type { TemplatedAnswer } from '#src/history/queries.ts'
import { csvRow } from '#src/http/formats.ts'
import type { ClientKey } from '#src/lib/fair-queue.ts'
import { closedWith, memberTexts, openText } from '#src/lib/json.ts'
import type { Lookup, PointAdvice, PointOutcome } from '#src/lookup/lookup.ts'
import { withReleaseNamed } from '#src/lookup/pinned-request.ts'
import {
  describeLocation,
  makePointData,
  makeReleaseMembers,
  nameColumn,
  positionOf,
  readSeries,
  versionOf,
} from '#src/lookup/releases.ts'
import { quantityColumns } from '../quantities/columns.ts'
import { dataWithQuantities, quantitiesAt } from '../quantities/compute.ts'
import { asksForQuantities, type FieldArea } from '../quantities/plan.ts'
import type { ReadRules } from '../quantities/rules.ts'

/**
 * The answer to a point request. Answers are classes: V8 would make a shape for each literal with getters, which
 * outlives its request.
 */
export abstract class PointAnswer {
  /** The values of each release that answers. */
  readonly advice: readonly PointAdvice[]
  /** Whether the answer depends on releases and the request alone, not on reasons or prices. */
  readonly isComplete: boolean
  #members: Record<string, unknown> | undefined
  /** The text without further members and the bracket at its end. */
  #open: string | undefined

  constructor(advice: readonly PointAdvice[], isComplete: boolean) {
    this.advice = advice
    this.isComplete = isComplete
  }

  protected abstract createBody(): Record<string, unknown>
  /** The same as JSON, faster than from the body. */
  protected abstract createText(): string

  /** The answer in the short form of the history; undefined where it has none. */
  protected createTemplated(): TemplatedAnswer | undefined {
    return undefined
  }

  /** The answer as CSV; undefined where it has several releases. */
  table(): string | undefined {
    return undefined
  }

  get releases(): string[] {
    return this.advice.map(({ release }) => release.code)
  }

  get versions(): string[] {
    return this.advice.map(({ release }) => versionOf(release))
  }

  get body(): Record<string, unknown> {
    return { ...this.createBody(), ...this.#members }
  }

  add(members: Record<string, unknown>): void {
    this.#members = { ...this.#members, ...members }
  }

  text(): string {
    if (!this.#members && this.#open === undefined) return this.createText()
    this.#open ??= openText(this.createText())
    return this.#members ? closedWith(this.#open, memberTexts(this.#members).join()) : `${this.#open}}`
  }

  /** The answer as the history stores it. */
  stored(): TemplatedAnswer | string {
    const templated = this.#members ? undefined : this.createTemplated()
    const stored = templated ?? this.text()
    if (!this.#members) this.#open = templated ? templated.open : openText(stored as string)
    return stored
  }
}

/** The values of one release. */
class ReleaseAnswer extends PointAnswer {
  readonly #product: ProductDefinition
  readonly #request: PointRequest
  readonly #own: PointAdvice

  constructor(product: ProductDefinition, request: PointRequest, advice: PointAdvice) {
    super([advice], true)
    this.#product = product
    this.#request = request
    this.#own = advice
  }

  protected createBody() {
    const { release, values } = this.#own
    return { location: describeLocation(this.#request), ...makePointData(this.#product, release, values) }
  }

  protected createText() {
    return this.#own.release.writer.answered(this.#request, this.#own.values)
  }

  protected override createTemplated() {
    return this.#own.release.writer.templated(this.#request, this.#own.values)
  }

  override table() {
    return formatTable(this.#product, this.#request, this.#own)
  }
}

/** An answer with quantities. The history stores it whole. */
export class QuantityAnswer extends PointAnswer {
  readonly #body: Record<string, unknown>
  readonly #table: (() => string) | undefined

  constructor(advice: readonly PointAdvice[], body: Record<string, unknown>, table?: () => string) {
    super(advice, false)
    this.#body = body
    this.#table = table
  }

  protected createBody() {
    return this.#body
  }

  protected createText() {
    return JSON.stringify(this.#body)
  }

  override table() {
    return this.#table?.()
  }
}

/** A header and a row, with the columns of layers that batches have. */
function formatTable(
  product: ProductDefinition,
  { name = POINT_DEFAULTS.name, lat, lng }: PointRequest,
  { release, values }: PointAdvice,
  further: { names: string[]; cells: (string | number | null)[] } = { names: [], cells: [] },
): string {
  const members = { name, lat, lng, ...makeReleaseMembers(release) }
  const columns = release.layers.map((layer) => nameColumn(product, layer, product.value.key))
  const cells = columns.map((_, index) => {
    const value = values[index] as number
    return Number.isNaN(value) ? null : value
  })
  const header = [...Object.keys(members), ...columns, ...further.names]
  return csvRow(header) + csvRow([...Object.values(members), ...cells, ...further.cells])
}

/** The source of answers about points. An error is the reason for no answer. */
export interface PointAnswerer {
  /**
   * A request with the members of the release that it names.
   *
   * @throws {ApiError} for an unknown release, and one that does not fit the request
   */
  readRelease(
    lookup: Lookup,
    point: PointRequest,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<PointRequest>
  /** The answer from memory; undefined where the database is needed. */
  fromMemory(lookup: Lookup, point: PointRequest): PointAnswer | ApiError | undefined
  answer(lookup: Lookup, point: PointRequest, clientKey: ClientKey): Promise<PointAnswer | ApiError>
}

/** Answers from the releases of one product. */
export function productAnswerer(product: ProductDefinition, readRules: ReadRules): PointAnswerer {
  return {
    readRelease: (lookup, point, request, reply) => withReleaseNamed(lookup, product, point, request, reply),
    fromMemory(lookup, point) {
      if (asksForQuantities(point)) return undefined
      const outcome = lookup.adviseFromMemory(readSeries(product, point), positionOf(point))
      if (outcome === undefined || outcome instanceof ApiError) return outcome
      return new ReleaseAnswer(product, point, outcome)
    },
    async answer(lookup, point, clientKey) {
      const rules = await readRules(point, [product])
      const outcome = await advise(lookup, product, point, clientKey)
      if (outcome instanceof ApiError) return outcome
      if (!rules) return new ReleaseAnswer(product, point, outcome)
      const { release, values } = outcome
      const area = rules.plan.area as FieldArea
      const body = {
        location: describeLocation(point),
        ...dataWithQuantities(rules, product, release, values, area),
      }
      return new QuantityAnswer([outcome], body, () => {
        if (!hasQuantities(product)) return formatTable(product, point, outcome)
        const { names, cellsOf } = quantityColumns(rules, product, release)
        const cells = cellsOf(quantitiesAt(rules, product, release, values, area))
        return formatTable(product, point, outcome, { names, cells })
      })
    },
  }
}

/** The values of a product at a point: from memory, or else from the database. */
export async function advise(
  lookup: Lookup,
  product: ProductDefinition,
  point: PointRequest,
  clientKey: ClientKey,
): Promise<PointOutcome> {
  const [series, position] = [readSeries(product, point), positionOf(point)]
  return lookup.adviseFromMemory(series, position) ?? lookup.advise(series, position, clientKey)
}
