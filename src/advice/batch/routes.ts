import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import { ReleaseHeader } from '#schemas/advisory.ts'
import {
  AnswerLines,
  BATCH_LIMITS,
  type BatchForms,
  BatchParameters,
  BatchPoint,
  type BatchSchemas,
  PointCollection,
  PointLines,
  PointTable,
} from '#schemas/batch.ts'
import { ref } from '#schemas/common.ts'
import { asQuery } from '#schemas/point-request.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { ApiError, BASE, BODY_ERRORS, errorResponses } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import {
  attach,
  DISPOSITION,
  FORMS,
  type Form,
  isFileType,
  mediaTypeOf,
  negotiate,
  OFFERS,
} from '#src/http/formats.ts'
import { ignoredMember, ignoredNoter, noteUnknown, queryMerger, sayIgnored } from '#src/http/parameters.ts'
import { isUntypedJson, turnToParse } from '#src/http/plugins/body-parser.ts'
import { databaseUnavailable } from '#src/http/plugins/error-handler.ts'
import { collectBody, givingBack, longJsonParser, textOf } from '#src/http/plugins/long-bodies.ts'
import { OPTIONAL_TOKEN } from '#src/http/plugins/openapi.ts'
import { withTimeout } from '#src/http/plugins/time-budget.ts'
import { type Wait, whileGettingOn } from '#src/lib/time-budget.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import { withReleaseNamed } from '#src/lookup/pinned-request.ts'
import { releasesOf } from '#src/lookup/sources.ts'
import { refuseProvenance } from '../polygon/body.ts'
import { type Area, type QuantityPlan, readArea } from '../quantities/plan.ts'
import { numberIn } from '../quantities/reading.ts'
import type { QuantityRules, ReadRules } from '../quantities/rules.ts'
import {
  adviseBatch,
  type BatchSize,
  createSliceTurns,
  RefusedPoint,
  readPoint,
  SLICE,
  type Validator,
  writeAnswer,
} from './answer.ts'
import { isPointColumn, readBatch, type SentBatch, type SentPoints } from './sent.ts'
import { columnsOf, createPassage, createWriter, headerOf, type Passage, refuseOwnNames } from './writers.ts'

const UNSUPPORTED_FORM = `Send the body as one of ${FORMS.join(', ')}.`

/** How to have more points answered. */
function hint({ user }: FastifyRequest): string {
  return user === null
    ? `Without a token a call may have ${BATCH_LIMITS.anonymous} points, with one (log in with POST ${BASE}/auth/login) ${BATCH_LIMITS.withToken}.`
    : `A call may have ${BATCH_LIMITS.withToken} points: send several.`
}

/**
 * Makes a scope read bodies in all forms in which many points are sent. How long they may be depends on
 * whether the caller has a token, so they are collected here and not by Fastify.
 *
 * @returns how many bytes a body may have of any caller
 */
function readBatchBodies(app: App): number {
  const { BODY_LIMIT_BYTES, BATCH_BODY_LIMIT_BYTES } = app.config
  const parseJson = longJsonParser(app)

  const longest = Math.max(BODY_LIMIT_BYTES, BATCH_BODY_LIMIT_BYTES)
  const limitsOf = ({ user }: FastifyRequest) => ({
    limit: user === null ? BODY_LIMIT_BYTES : longest,
    longest,
  })

  app.removeAllContentTypeParsers()
  for (const form of FORMS) {
    app.addContentTypeParser(form, async (request: FastifyRequest, stream: NodeJS.ReadableStream) => {
      return readBody(request, form, await collect(request, stream, limitsOf(request)))
    })
  }
  app.addContentTypeParser('*', async (request: FastifyRequest, stream: NodeJS.ReadableStream) => {
    const body = await collect(request, stream, limitsOf(request))
    if (body.length === 0) return undefined
    if (isUntypedJson(request, body)) return readBody(request, 'application/json', body)
    throw new ApiError('UNSUPPORTED_MEDIA_TYPE', UNSUPPORTED_FORM)
  })
  return longest

  async function readBody(request: FastifyRequest, form: Form, body: Buffer): Promise<SentBatch | undefined> {
    await turnToParse(app, request, body)
    const text = textOf(body)
    if (text.trim() === '') return undefined
    return readBatch(form, text, (json) => parseJson(request, json))
  }
}

/**
 * @throws {ApiError} TOO_MANY_POINTS, where the call has more than its caller may send
 */
function refuseTooMany(request: FastifyRequest, { points }: SentBatch): void {
  const limit = request.user === null ? BATCH_LIMITS.anonymous : BATCH_LIMITS.withToken
  if (points.count <= limit) return
  const count = points.count > BATCH_LIMITS.withToken ? `more than ${BATCH_LIMITS.withToken}` : points.count
  const tooMany = new ApiError('TOO_MANY_POINTS', `The call has ${count} points. ${hint(request)}`)
  throw refusalOf(request, tooMany, points.count <= BATCH_LIMITS.withToken)
}

/**
 * What a call is refused with that is too large.
 *
 * @param needsCaller whether it is not too large for callers with a token: then it matters first that there
 * was one which is of no use
 */
function refusalOf({ callerError }: FastifyRequest, tooLarge: ApiError, needsCaller: boolean): Error {
  return (needsCaller && callerError) || tooLarge
}

/** How many bytes a body may have of this caller, and of any. */
interface Limits {
  limit: number
  longest: number
}

/** The bytes of a body, as many as its caller may send. */
function collect(
  request: FastifyRequest,
  stream: NodeJS.ReadableStream,
  { limit, longest }: Limits,
): Promise<Buffer> {
  return collectBody(request, stream, limit, (bytes) => {
    const error = new ApiError('BODY_TOO_LARGE', `The body is larger than ${limit} bytes. ${hint(request)}`)
    return refusalOf(request, error, bytes <= longest)
  })
}

const RULES = `
Answers up to ${BATCH_LIMITS.anonymous} points, or ${BATCH_LIMITS.withToken} with a token, in their order. Each has its values, or its own \`error\` and \`code\`. The tag \`advisory\` has the rules.`

/** What the operation of a product for many points takes and answers. */
function documentationOf(
  { product, parameters, request, response }: BatchSchemas<ProductDefinition>,
  forms: BatchForms,
) {
  const { code, names } = product
  return {
    operationId: `${code}AtPoints`,
    summary: `${names.titleOfMany ?? names.title} at many points`,
    description: RULES.trim(),
    tags: ['advisory'],
    security: OPTIONAL_TOKEN,
    queryAlternative: asQuery(parameters),
    body: parameters,
    bodyForms: {
      'application/json': ref(request),
      'application/x-ndjson': ref(PointLines),
      'text/csv': ref(PointTable),
      'application/geo+json': ref(PointCollection),
    },
    response: {
      200: answerOf(ref(response), forms),
      ...errorsOf(product),
    },
  }
}

function errorsOf(product: ProductDefinition) {
  return errorResponses(
    'INVALID_PARAMETERS',
    'UNAUTHORIZED',
    'INSUFFICIENT_SCOPE',
    ...BODY_ERRORS,
    'MALFORMED_BODY',
    ...(product.seasonal ? (['CROP_NOT_AVAILABLE'] as const) : []),
    'NO_RELEASE',
    'RELEASE_GONE',
    'NOT_ACCEPTABLE',
    'TOO_MANY_POINTS',
    'UNSUPPORTED_MEDIA_TYPE',
  )
}

/** What is documented of an answer in each of its forms. */
function answerOf(json: TSchema, forms: BatchForms) {
  return {
    description: 'An answer for each point.',
    headers: { 'Advisory-Release': ReleaseHeader, 'Content-Disposition': DISPOSITION },
    content: {
      'application/json': { schema: json },
      'application/x-ndjson': { schema: ref(AnswerLines) },
      'text/csv': { schema: ref(forms.table) },
      'application/geo+json': { schema: ref(forms.collection) },
    },
  }
}

/** The areas that quantities are told for: one of all points, or each point's own. */
interface PointAreas {
  /** Takes the area of a point; the error where it has none. */
  take(index: number): ApiError | undefined
  /** Says which point was taken last. */
  bind(point: BatchPoint): void
  /** The area of a point that was bound. */
  of(point: BatchPoint): Area
}

/**
 * The areas of a call's points.
 *
 * @throws {ApiError} INVALID_PARAMETERS, where a table has no such column
 */
function createPointAreas(points: SentPoints, { area, areasFrom, unit }: QuantityPlan): PointAreas {
  if (area) return { take: () => undefined, bind: () => {}, of: () => area }
  const from = areasFrom as string
  if (points.columns && !points.columns.includes(from)) {
    throw ApiError.invalid('area.from', `names ${from}, which no column is called`)
  }
  const areas = new WeakMap<BatchPoint, Area>()
  let taken: Area | undefined
  return {
    take(index) {
      taken = undefined
      try {
        const [sent] = points.membersOf(index, [from])
        // The cells of a table are text.
        taken = readArea(from, points.columns && typeof sent === 'string' ? numberIn(sent) : sent, unit)
        return undefined
      } catch (error) {
        if (error instanceof ApiError) return error
        throw error
      }
    },
    bind: (point) => void areas.set(point, taken as Area),
    of: (point) => areas.get(point) as Area,
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The points of a call with many, as they were sent. */
    batch: SentBatch | null
  }
}

interface BatchOptions {
  lookup: Lookup
  schemas: BatchSchemas<ProductDefinition>[]
  forms: BatchForms
  readRules: ReadRules
}

/** The endpoints that answer for many points in one call. Their bodies are read here, not by the app. */
export async function batchRoutes(
  app: App,
  { lookup, schemas: all, forms, readRules }: BatchOptions,
): Promise<void> {
  app.decorateRequest('batch', null)
  const turnsOf = createSliceTurns(app)
  const bodyLimit = readBatchBodies(app)

  for (const schemas of all) {
    const { product, parameters } = schemas
    let answered = 0
    app.metrics.observe('agro_batch_points_total', () => answered, { product: product.code })
    const merge = queryMerger(parameters)
    const note = ignoredNoter([...Object.keys(BatchParameters.properties), 'points', 'provenance'])
    app.route({
      method: 'POST',
      url: `/${product.code}/points`,
      bodyLimit,
      config: {
        public: true,
        scope: 'advisory',
        longBody: true,
        ownTurns: true,
        preferences: ['handling=strict'],
      },
      schema: documentationOf(schemas, forms),
      preValidation: async (call, reply) => {
        takeBatch(call)
        note(call, reply)
        refuseProvenance(call)
        merge(call)
      },
      handler: async (call: FastifyRequest<{ Body: BatchParameters }>, reply: FastifyReply) => {
        const { form, points } = call.batch as SentBatch
        const answerForm = negotiate(call, reply, OFFERS[form])
        const validate = call.compileValidationSchema(BatchPoint) as Validator
        const request = await withReleaseNamed(lookup, product, call.body, call, reply)
        const { pass = [] } = call.body
        const passage = pass.length > 0 ? createPassage(points, pass) : null
        const turns = turnsOf(call, reply)
        const rules = await withTimeout(call, reply, () => readRules(call.body, [product], 'points'))
        const areas = rules && createPointAreas(points, rules.plan)
        const noteNames = createNameNoter(call, points, [...pass, rules?.plan.areasFrom ?? []].flat())
        const pointAt = pointsOf(points, validate, passage, areas, noteNames)
        const advice = await whileGettingOn(
          app.config.STATEMENT_TIMEOUT_MS,
          (wait) =>
            adviseBatch(lookup, { product, request, size: sizeOf(points, rules), pointAt }, turns, wait),
          databaseUnavailable,
        )
        answered += points.count
        sayIgnored(call, reply)
        const { sources } = advice
        const quantities = rules && areas && { rules, areaOf: areas.of }
        const columns = columnsOf(product, sources, quantities)
        refuseOwnNames(pass, headerOf(columns))
        const releases = releasesOf(sources)
        reply.header('advisory-release', releases.join(', ')).type(mediaTypeOf(answerForm))
        const file = releases.length === 1 ? releases[0] : product.code
        if (isFileType(answerForm)) attach(reply, answerForm, `${file}-points`)
        const ofCall = ignoredMember(call)
        const writer = createWriter(answerForm, {
          product,
          sources,
          columns,
          names: pass,
          quantities,
          ofCall,
        })
        const long = advice.slices.length > 1
        // The slices have all of it that is still needed.
        Object.assign(call, { batch: null, body: undefined })
        const wait: Wait = (something) => withTimeout(call, reply, something)
        const written = writeAnswer(lookup.reasons, advice, writer, turns, wait, passage)
        const pieces = givingBack(call.place, () => advice.slices.length, written)
        return reply.send(long ? Readable.from(pieces) : (await pieces.next()).value)
      },
    })
  }
}

/** How many points a call has, and how many of them are worked on at a time. */
function sizeOf({ count }: SentPoints, rules: QuantityRules | null): BatchSize {
  return { count, slice: rules ? SLICE.withQuantities : SLICE.plain }
}

/** Reads and judges the points of a call, with what it wants of each beside its place. */
function pointsOf(
  points: SentPoints,
  validate: Validator,
  passage: Passage | null,
  areas: PointAreas | null,
  note: (named: object) => void,
): (index: number) => BatchPoint | RefusedPoint {
  function take(index: number): ApiError | undefined {
    const unpassable = passage?.take(index)
    return areas?.take(index) ?? unpassable
  }
  return (index) => {
    const point = readPoint(points, index, validate, take, note)
    if (areas && !(point instanceof RefusedPoint)) areas.bind(point)
    return point
  }
}

/**
 * Makes what notes the names that points are sent with and that are not known; those of a table are noted at once.
 *
 * @param wanted other names that the call wants
 */
function createNameNoter(
  call: FastifyRequest,
  points: SentPoints,
  wanted: string[],
): (named: object) => void {
  const known = new Set([...Object.keys(BatchPoint.properties), ...wanted])
  for (const column of points.columns ?? []) {
    if (!isPointColumn(column)) noteUnknown(call, { [column]: true }, known)
  }
  return (named) => noteUnknown(call, named, known)
}

/** Puts the points of a call aside: what is validated as its body are the parameters that apply to all. */
function takeBatch(call: FastifyRequest): void {
  const batch = call.body as SentBatch | undefined
  if (!batch || batch.points.count === 0) throw ApiError.invalid('points', 'must not be empty')
  refuseTooMany(call, batch)
  call.batch = batch
  call.body = batch.parameters
}
