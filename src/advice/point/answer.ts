import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Skill, unnamedReason } from '#schemas/advisory.ts'
import type { ErrorDetail } from '#schemas/common.ts'
import { POINT_DEFAULTS, type PointRequest } from '#schemas/point-request.ts'
import { ALL_PRODUCTS } from '#schemas/product.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { hasQuantities } from '#schemas/quantities.ts'
import { ApiError, type ErrorCode } from '#src/errors.ts'
import type { RecordAdvisory, TemplatedAnswer } from '#src/history/queries.ts'
import { sayHistoryFull } from '#src/history/recorded-answer.ts'
import { readSkills } from '#src/history/skill-queries.ts'
import { entityTag } from '#src/http/entity-tags.ts'
import { CSV, csvRow } from '#src/http/formats.ts'
import { ignoredMember } from '#src/http/parameters.ts'
import { permits } from '#src/http/plugins/authentication.ts'
import { allowCaching, mayBeShared } from '#src/http/plugins/caching.ts'
import { SHARE_OF_EXTRAS, withTimeout } from '#src/http/plugins/time-budget.ts'
import {
  clientKeyOf,
  isOffTheRecord,
  prefers,
  prefersText,
  readIdempotencyKey,
  sendAtEnd,
  setApplied,
  varyBy,
} from '#src/http/request.ts'
import { closedWith, memberTexts, openText } from '#src/lib/json.ts'
import { splitList } from '#src/lib/names.ts'
import type { Lookup, PointAdvice, PointOutcome } from '#src/lookup/lookup.ts'
import { withReleaseNamed } from '#src/lookup/pinned-request.ts'
import { type LocatableRequest, sourceMember } from '#src/lookup/places.ts'
import {
  describeLocation,
  locationStart,
  makePointData,
  makeReleaseMembers,
  positionOf,
  readSeries,
} from '#src/lookup/releases.ts'
import { quantityColumns, valueColumns } from '../columns.ts'
import {
  dataWithQuantities,
  type QuantityRules,
  quantitiesAt,
  type ReadRules,
} from '../quantities/compute.ts'
import { asksForQuantities, type FieldArea } from '../quantities/plan.ts'
import { replyInText } from '../texts/reply.ts'
import type { TakePlace } from './place-parameter.ts'
import { findProvenance } from './provenance-queries.ts'

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
  #skills: Map<ProductDefinition, Skill | null> | undefined
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

  addSkills(skills: Map<ProductDefinition, Skill | null>): void {
    if (this.#source.hasSections) this.#skills = skills
    else this.add({ skill: [...skills.values()][0] })
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

  /** The answer as the history stores it: in the short form, where it has one. */
  stored(): TemplatedAnswer | string {
    if (this.#members) return this.text()
    const { release, values } = this.advice[0] as PointAdvice
    const isPlain = !this.#source.hasSections && !this.#rules
    const stored = (isPlain && release.writer.templated(this.#point, values)) || this.text()
    this.#open = typeof stored === 'string' ? openText(stored) : stored.open
    return stored
  }

  /** A header and a row, with the columns that batches have. It is for answers without sections. */
  table(): string {
    const { name = POINT_DEFAULTS.name, lat, lng } = this.#point
    const [product] = this.#source.products as [ProductDefinition]
    const { release, values } = this.advice[0] as PointAdvice
    const members = { name, lat, lng, ...makeReleaseMembers(release) }
    const columns = valueColumns(product, release)
    const rules = hasQuantities(product) ? this.#rules : null
    const further = rules && quantityColumns(rules, product, release)
    const figures = rules && quantitiesAt(rules, product, release, values, rules.plan.area as FieldArea)
    return (
      csvRow([...Object.keys(members), ...columns.names, ...(further?.names ?? [])]) +
      csvRow([
        ...Object.values(members),
        ...columns.cellsOf(values),
        ...(further && figures ? further.cellsOf(figures) : []),
      ])
    )
  }

  #createData(): Record<string, unknown> {
    const location = describeLocation(this.#point)
    const sections = this.#outcomes.map(({ product, outcome }) => {
      if (outcome instanceof ApiError) return createReason(product, outcome)
      const { release, values } = outcome
      const data = this.#rules
        ? dataWithQuantities(this.#rules, product, release, values, this.#rules.plan.area as FieldArea)
        : makePointData(product, release, values)
      return this.#skills ? { ...data, skill: this.#skills.get(product) } : data
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
      return release.writer.answered(this.#point, values)
    }
    let text = `${locationStart(this.#point)},${memberTexts(this.#describePlace()).join()}`
    for (const { product, outcome } of this.#outcomes) {
      const section =
        outcome instanceof ApiError
          ? JSON.stringify(createReason(product, outcome))
          : outcome.release.writer.section(outcome.values)
      text += `,"${product.code}":${this.#withSkill(product, section)}`
    }
    return `${text}}`
  }

  #withSkill(product: ProductDefinition, section: string): string {
    const skill = this.#skills?.get(product)
    return skill === undefined ? section : closedWith(openText(section), `"skill":${JSON.stringify(skill)}`)
  }

  #describePlace() {
    const releases = this.advice.map(({ release }) => release)
    return {
      country_code: releases[0]?.countryCode,
      crop: releases.find(({ cropCode }) => cropCode !== null)?.cropCode ?? null,
      ...sourceMember(this.#point),
    }
  }
}

function createReason(product: ProductDefinition, reason: ApiError): Record<string, unknown> {
  return { [product.entries]: null, ...reason.body }
}

/** The reasons that explain most about a place, in their order. */
const TELLING: ErrorCode[] = ['INVALID_PARAMETERS', 'OUTSIDE_COUNTRY', 'NO_DATA', 'NO_RELEASE']

/** The answer of outcomes; without any value the most telling reason, with all of them in the details. */
function createAnswer(
  source: PointSource,
  point: PointRequest,
  outcomes: readonly ProductOutcome[],
  rules: QuantityRules | null,
): PointAnswer | ApiError {
  const reasons: { product: ProductDefinition; reason: ApiError }[] = []
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

/** The answer from memory, or its error; undefined where the database is needed. */
function answerFromMemory(
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
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<PointAnswer> {
  const fromDatabase = async () => {
    const { products, hasSections } = source
    const rules = asksForQuantities(point) ? await source.readRules(point, products) : null
    const named = point.release === undefined ? undefined : await findNamed(lookup, point.release)
    const findOutcome = async (product: ProductDefinition): Promise<ProductOutcome> => {
      const release = named?.get(product.code)
      if (named && release === undefined) {
        const { code, error } = unnamedReason(product)
        return { product, outcome: new ApiError(code, error) }
      }
      const [series, position] = [
        readSeries(product, named ? { ...point, release } : point),
        positionOf(point),
      ]
      // A single product without quantities was just missed.
      const found = hasSections || rules ? lookup.adviseFromMemory(series, position) : undefined
      return { product, outcome: found ?? (await lookup.advise(series, position, clientKeyOf(request))) }
    }
    const outcomes = await Promise.all(products.map(findOutcome))
    return createAnswer(source, point, outcomes, rules)
  }
  const answer = answerFromMemory(lookup, source, point) ?? (await withTimeout(request, reply, fromDatabase))
  if (answer instanceof Error) throw answer
  return answer
}

async function findNamed(lookup: Lookup, list: string): Promise<Map<string, string>> {
  const named = await Promise.all(splitList(list).map(lookup.namedRelease))
  return new Map(named.map(({ release }) => [release.product, release.code]))
}

type Format = 'json' | 'csv' | 'text'

interface PointContext {
  lookup: Lookup
  record: RecordAdvisory
  source: PointSource
  /** The parameters: the body or the query. */
  point: PointRequest
  format: Format
  request: FastifyRequest
  reply: FastifyReply
}

const failBy = (reply: FastifyReply) => (error: unknown) => sendAtEnd(reply, () => reply.send(error))

/** An answer from memory takes no promise until it is stored, and the answers of a turn of the event loop leave together. */
export function createPointHandlers(lookup: Lookup, record: RecordAdvisory, takePlace: TakePlace) {
  /** Answers by `reply`, or by the body that it returns. */
  function handle(context: PointContext): Promise<PointAnswer['body']> | undefined {
    const { source, point, format, request, reply } = context
    const fail = failBy(reply)
    // Anonymous answers are not stored, so their key does nothing; an invalid key is refused all the same.
    const key = request.method === 'POST' ? readIdempotencyKey(request) : undefined
    if (format === 'text') {
      answerInText(context).catch(fail)
    } else if (request.user !== null && key !== undefined) {
      return answerOnce(context)
    } else {
      const plain = isPlain(context) && answerFromMemory(lookup, source, point)
      if (plain instanceof Error || (plain && request.user === null)) {
        if (plain instanceof PointAnswer) nameReleases(plain, reply)
        sendAtEnd(reply, () => send(plain, context))
      } else {
        const stored = plain ? store(context, plain) : findAndStore(context)
        stored.then((answer) => sendAtEnd(reply, () => send(answer, context)), fail)
      }
    }
    return undefined
  }

  return {
    post: (source: PointSource) => (request: FastifyRequest<{ Body: PointRequest }>, reply: FastifyReply) => {
      const format = prefersText(request, 'text/plain') ? 'text' : 'json'
      return handle({ lookup, record, source, point: request.body, format, request, reply })
    },
    get:
      (source: PointSource) =>
      (
        request: FastifyRequest<{
          Querystring: PointRequest & { format?: Format; lang?: string; place?: string }
        }>,
        reply: FastifyReply,
      ) => {
        const { format: named, lang: _, place, ...point } = request.query
        const format = named ?? (prefersText(request, 'text/plain') ? 'text' : 'json')
        const further = (['provenance', 'skill'] as const).find((name) => format === 'csv' && point[name])
        if (further) throw ApiError.invalid(further, 'must be left out for CSV, which has no columns for it')
        if (format !== 'text') varyBy(reply, 'Accept')
        const context: PointContext = { lookup, record, source, point, format, request, reply }
        if (place === undefined) return handle(context)
        takePlace(place, context).then(() => handle(context), failBy(reply))
        return undefined
      },
  }
}

/** Whether memory may have all parts of an answer. The history stores the members of a named release, too. */
function isPlain({ point, format, request }: PointContext): boolean {
  if (prefers(request, 'server-timing') || (request.user !== null && point.release !== undefined))
    return false
  if (format === 'csv') return true
  return point.provenance !== true && point.skill !== true && !prefers(request, 'return=provenance')
}

function answerOnce(context: PointContext): Promise<PointAnswer['body']> {
  const { request, reply } = context
  return request.server.once(request, reply, async () => {
    const answer = await findAndStore(context)
    return { ...answer.body, ...ignoredMember(request) }
  })
}

function answerInText(context: PointContext): Promise<FastifyReply> {
  const { source, point, request, reply } = context
  const { lang } = (request.method === 'POST' ? {} : request.query) as { lang?: string }
  const isShared = () => mayBeShared(request, reply)
  const wanted = { products: source.products, maxSegments: point.max_segments, language: lang, isShared }
  return replyInText(request, reply, wanted, async () => {
    if (request.method === 'POST' && request.user) return answerOnce(context)
    const { body } = await findAndStore(context)
    cite(context)
    return body
  })
}

async function findAndStore(context: PointContext): Promise<PointAnswer> {
  const { lookup, source, point, format, request, reply } = context
  // The history stores the preference as a parameter.
  if (format !== 'csv' && !point.provenance && prefers(request, 'return=provenance')) {
    point.provenance = true
    setApplied(reply, 'return=provenance')
  }
  const isTimed = prefers(request, 'server-timing')
  const started = performance.now()
  await settle(context)
  if (isTimed) await withTimeout(request, reply, lookup.current)
  const released = performance.now()
  const answer = await answerPoint(lookup, source, point, request, reply)
  if (point.provenance) {
    answer.add({ provenance: await findProvenance(lookup, point, answer.advice, request, reply) })
  }
  // A text message has no room for it.
  if (point.skill && format !== 'text') {
    answer.addSkills(await readSkills(answer.answered, positionOf(point), request, reply))
  }
  if (isTimed) sayTimes(reply, released - started, performance.now() - released)
  return store(context, answer)
}

/** Completes a request with the members of its release, or of the place. @throws {ApiError} for a wrong release */
async function settle({ source, lookup, point, request, reply }: PointContext): Promise<void> {
  const { products, hasSections } = source
  if (point.release !== undefined) {
    Object.assign(point, await withReleaseNamed(lookup, products, point, request, reply))
  } else if (hasSections && !lookup.places.fillFromMemory(point, positionOf(point))) {
    await withTimeout(request, reply, () => lookup.places.fill(point, positionOf(point)))
  }
}

/** Says the milliseconds of the release, of the values, and since the request arrived. */
function sayTimes(reply: FastifyReply, release: number, values: number): void {
  const steps = Object.entries({ release, values, total: reply.elapsedTime })
  reply.headers({
    'server-timing': steps.map(([name, duration]) => `${name};dur=${duration.toFixed(3)}`).join(', '),
    'timing-allow-origin': reply.server.config.CORS_ORIGINS.join(', '),
    // A cache would repeat the times of this request.
    'cache-control': 'no-store',
  })
  setApplied(reply, 'server-timing')
}

function nameReleases({ releases }: PointAnswer, reply: FastifyReply): void {
  reply.header('advisory-release', releases.join(', '))
}

/** Stores an answer for a caller with a token, and adds its id. It goes out without one where that fails. */
async function store(context: PointContext, answer: PointAnswer): Promise<PointAnswer> {
  nameReleases(answer, context.reply)
  const { record, source, point, request, reply } = context
  const { user, method } = request
  if (user === null || method === 'HEAD') return answer
  if (!permits(user, 'history') || isOffTheRecord(request, reply)) return answer
  try {
    const [first] = source.products as [ProductDefinition]
    const seasonal = source.products.some((product) => product.seasonal)
    const recorded = source.hasSections ? { code: ALL_PRODUCTS, seasonal } : first
    const { product, countryCode, cropCode } = readSeries(recorded, point)
    const { country_source: _, ...sent } = point as PointRequest & LocatableRequest
    const advisory = {
      userId: user.id,
      product,
      kind: 'point' as const,
      countryCode,
      cropCode,
      releases: answer.releases,
      request: sent,
      answer: answer.stored(),
    }
    const insert = () => record(advisory)
    const stored = await withTimeout(request, reply, insert, SHARE_OF_EXTRAS)
    if (typeof stored === 'string') answer.add({ history_id: stored })
    else sayHistoryFull(reply, stored)
  } catch (error) {
    request.server.logFailure(error, 'an advisory could not be kept', request.log)
  }
  return answer
}

function send(answer: PointAnswer | ApiError, context: PointContext): FastifyReply {
  const { format, request, reply } = context
  if (answer instanceof ApiError) return reply.send(answer)
  if (request.ignored !== null) answer.add(ignoredMember(request))
  const text = format === 'csv' ? answer.table() : answer.text()
  if (request.method !== 'POST') {
    if (mayBeShared(request, reply) && allowCaching(request, reply, entityTag(text)))
      return reply.code(304).send()
    cite(context)
  }
  const type = format === 'csv' ? CSV.contentType : 'application/json; charset=utf-8'
  return reply.header('content-type', type).send(text)
}

/** Links the answer itself, if the request names a release. The address is relative, so that caches may store it. */
function cite({ point, request, reply }: PointContext): void {
  const { basePath, url, server, method, query } = request
  if (point.release === undefined || method === 'POST') return
  // Skill changes with each season, the place of a name with the boundaries.
  if (point.skill || (query as { place?: string }).place !== undefined) return
  reply.header('link', `<${basePath}${url.slice(server.config.BASE_PATH.length)}>; rel="cite-as"`)
}
