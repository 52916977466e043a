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
  columnOf,
  dataOf,
  locationOf,
  positionOf,
  releaseMembers,
  seriesOf,
  versionOf,
} from '#src/lookup/releases.ts'
import { quantityColumns } from '../quantities/columns.ts'
import { dataWithQuantities, quantitiesAt } from '../quantities/compute.ts'
import { type Area, asksForQuantities } from '../quantities/plan.ts'
import type { ReadRules } from '../quantities/rules.ts'

/** Columns that come after those of the layers, and what stands in them. */
interface MoreColumns {
  names: string[]
  cells: (string | number | null)[]
}

const NO_MORE: MoreColumns = { names: [], cells: [] }

/** An answer as CSV: a header and a row, with a column for each layer as the answers for many points have them. */
function tableOf(
  product: ProductDefinition,
  { name = POINT_DEFAULTS.name, lat, lng }: PointRequest,
  { release, values }: PointAdvice,
  more: MoreColumns = NO_MORE,
): string {
  const members = { name, lat, lng, ...releaseMembers(release) }
  const columns = release.layers.map((layer) => columnOf(product, layer, product.value.key))
  const cells = columns.map((_, index) => {
    const value = values[index] as number
    return Number.isNaN(value) ? null : value
  })
  const header = [...Object.keys(members), ...columns, ...more.names]
  return csvRow(header) + csvRow([...Object.values(members), ...cells, ...more.cells])
}

/** What is answered to a point request. */
export interface PointAnswer {
  /** The codes of the releases that answered. */
  readonly releases: string[]
  /** The same, as they answer now: see {@link versionOf}. */
  readonly versions: string[]
  /** What each of them says. */
  readonly advice: readonly PointAdvice[]
  /** Whether the releases have said all of it, and no reasons were needed. */
  readonly complete: boolean
  readonly body: Record<string, unknown>
  /** The body as JSON, which is written faster than from the body. */
  text(): string
  /** The body as the history keeps it in little room; undefined where it cannot. */
  templated?(): TemplatedAnswer | undefined
  /** The answer as a table; undefined where it has no one release. */
  table?(): string | undefined
}

/** How a point request is answered; an error says why there is no answer. */
export interface PointAnswerer {
  /**
   * A request that names a release, with what that says itself.
   *
   * @throws {ApiError} where there is no such release, or it is of something else than is asked for
   */
  settled(
    lookup: Lookup,
    request: PointRequest,
    call: FastifyRequest,
    reply: FastifyReply,
  ): Promise<PointRequest>
  /** From memory alone; undefined where the database has to be asked. */
  fromMemory(lookup: Lookup, request: PointRequest): PointAnswer | ApiError | undefined
  /** @param client key who waits for it */
  answer(lookup: Lookup, request: PointRequest, clientKey: ClientKey): Promise<PointAnswer | ApiError>
}

/** Answers with what the release of one product says. */
export function productAnswerer(product: ProductDefinition, readRules: ReadRules): PointAnswerer {
  const answerOf = (request: PointRequest, outcome: PointOutcome) =>
    outcome instanceof ApiError ? outcome : new ReleaseAnswer(product, request, outcome)
  return {
    settled: (lookup, request, call, reply) => withReleaseNamed(lookup, product, request, call, reply),
    fromMemory(lookup, request) {
      if (asksForQuantities(request)) return undefined
      const outcome = lookup.adviseFromMemory(seriesOf(product, request), positionOf(request))
      return outcome && answerOf(request, outcome)
    },
    async answer(lookup, request, clientKey) {
      const rules = await readRules(request, [product])
      if (!rules) return answerOf(request, await adviseOn(lookup, product, request, clientKey))
      const outcome = await adviseOn(lookup, product, request, clientKey)
      if (outcome instanceof ApiError) return outcome
      const { release, values } = outcome
      const area = rules.plan.area as Area
      const body = {
        location: locationOf(request),
        ...dataWithQuantities(rules, product, release, values, area),
      }
      return new QuantityAnswer(new ReleaseAnswer(product, request, outcome), body, () => {
        if (!hasQuantities(product)) return tableOf(product, request, outcome)
        const { names, cellsOf } = quantityColumns(rules, product, release)
        const cells = cellsOf(quantitiesAt(rules, product, release, values, area))
        return tableOf(product, request, outcome, { names, cells })
      })
    },
  }
}

/** What a product says at the point of a request: from memory, or else through the database. */
export async function adviseOn(
  lookup: Lookup,
  product: ProductDefinition,
  request: PointRequest,
  clientKey: ClientKey,
): Promise<PointOutcome> {
  const [series, position] = [seriesOf(product, request), positionOf(request)]
  return lookup.adviseFromMemory(series, position) ?? lookup.advise(series, position, clientKey)
}

/**
 * An answer that the same releases have given as another one, and that says more. Such answers are classes: V8 would make
 * a shape for each literal with getters, which outlives its request.
 */
abstract class FurtherAnswer implements PointAnswer {
  protected readonly given: PointAnswer

  constructor(given: PointAnswer) {
    this.given = given
  }

  get advice() {
    return this.given.advice
  }

  get releases() {
    return this.given.releases
  }

  get versions() {
    return this.given.versions
  }

  get complete() {
    return this.given.complete
  }

  abstract readonly body: Record<string, unknown>
  abstract text(): string
}

/** An answer with members behind those that it has. */
export class ExtendedAnswer extends FurtherAnswer {
  readonly #members: Record<string, unknown>
  readonly #open: string

  /** @param open the text of the given answer but for the bracket at its end, where somebody has it already */
  constructor(given: PointAnswer, members: Record<string, unknown>, open = openText(given.text())) {
    super(given)
    this.#members = members
    this.#open = open
  }

  get body() {
    return { ...this.given.body, ...this.#members }
  }

  table() {
    return this.given.table?.()
  }

  text() {
    return closedWith(this.#open, memberTexts(this.#members).join())
  }
}

/** An answer with quantities. They come from more than the releases, and the history keeps such answers as a whole. */
export class QuantityAnswer extends FurtherAnswer {
  readonly body: Record<string, unknown>
  readonly table: (() => string) | undefined

  /**
   * @param body the answer's, with quantities
   * @param table the same as a table, where the answer has one
   */
  constructor(given: PointAnswer, body: Record<string, unknown>, table?: () => string) {
    super(given)
    this.body = body
    this.table = table
  }

  override get complete() {
    return false
  }

  text() {
    return JSON.stringify(this.body)
  }
}

/** What one release says of a point. */
class ReleaseAnswer implements PointAnswer {
  readonly complete = true
  readonly #product: ProductDefinition
  readonly #request: PointRequest
  readonly #advice: PointAdvice

  constructor(product: ProductDefinition, request: PointRequest, advice: PointAdvice) {
    this.#product = product
    this.#request = request
    this.#advice = advice
  }

  get advice() {
    return [this.#advice]
  }

  get releases() {
    return [this.#advice.release.code]
  }

  get versions() {
    return [versionOf(this.#advice.release)]
  }

  get body() {
    const { release, values } = this.#advice
    return { location: locationOf(this.#request), ...dataOf(this.#product, release, values) }
  }

  text() {
    const { release, values } = this.#advice
    return release.writer.answered(this.#request, values)
  }

  templated() {
    const { release, values } = this.#advice
    return release.writer.templated(this.#request, values)
  }

  table() {
    return tableOf(this.#product, this.#request, this.#advice)
  }
}
