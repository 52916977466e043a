import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ReleaseHeader } from '#schemas/advisory.ts'
import {
  AnswerLines,
  BATCH_LIMITS,
  BatchParameters,
  BatchPoint,
  type BatchSchemas,
  type defineBatchFormats,
  PointCollection,
  PointLines,
  PointTable,
} from '#schemas/batch.ts'
import { ref } from '#schemas/common.ts'
import { asQuery, memberNames } from '#schemas/point-request.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { ApiError, BASE, databaseUnavailable } from '#src/errors.ts'
import { type App, errorResponses, OPTIONAL_TOKEN } from '#src/http/app.ts'
import { createBudget, type Exchange } from '#src/http/exchange.ts'
import {
  attach,
  DISPOSITION,
  documentFormats,
  FORMATS,
  type Format,
  negotiateFormat,
  writeItems,
} from '#src/http/formats.ts'
import { ignoredMember, ignoredNoter, queryMerger, recordIgnored, sayIgnored } from '#src/http/parameters.ts'
import { createPause } from '#src/http/plugins/time-budget.ts'
import { withDecimalPoint } from '#src/lib/csv.ts'
import { waitInSteps } from '#src/lib/time-budget.ts'
import type { Lookup, Reasons } from '#src/lookup/lookup.ts'
import { withReleaseNamed } from '#src/lookup/pinned-request.ts'
import { listReleaseCodes } from '#src/lookup/places.ts'
import { refuseFormer } from '../additions.ts'
import { mediaTypeOfBody, readLongBodies, refusePixelMembers, type Validator } from '../bodies.ts'
import type { QuantityRules } from '../quantities/compute.ts'
import { type FieldArea, numberIn, type QuantityPlan, readFieldArea } from '../quantities/plan.ts'
import type { ReadRules } from '../quantities/rules.ts'
import {
  adviseBatch,
  type BatchAdvice,
  type BatchQuestion,
  createPassReader,
  createPointItems,
  listItems,
  MOST_IN_ONE_PIECE,
  type ReadPoint,
  SLICE,
} from './answer.ts'
import { BATCH_READERS, isPointColumn, readPoint, type SentBatch, type SentPoints } from './sent.ts'

function hint({ user }: FastifyRequest): string {
  return user === null
    ? `Without a token a call may have ${BATCH_LIMITS.anonymous} points, with one (log in with POST ${BASE}/auth/login) ${BATCH_LIMITS.withToken}.`
    : `A call may have ${BATCH_LIMITS.withToken} points: send several.`
}

/** Makes a scope read the bodies of many points. @returns the most bytes of a body of any caller */
function readBatchBodies(app: App): number {
  const { BODY_LIMIT_BYTES, BATCH_BODY_LIMIT_BYTES } = app.config
  const longest = Math.max(BODY_LIMIT_BYTES, BATCH_BODY_LIMIT_BYTES)
  const limit = ({ user }: FastifyRequest) => (user === null ? BODY_LIMIT_BYTES : longest)
  readLongBodies(app, {
    readers: BATCH_READERS,
    limit,
    tooLarge(request, bytes) {
      const sentence = `The body is larger than ${limit(request)} bytes. ${hint(request)}`
      return chooseRefusal(request, new ApiError('BODY_TOO_LARGE', sentence), bytes <= longest)
    },
  })
  return longest
}

/** @throws {ApiError} TOO_MANY_POINTS, where the call has more than its caller may send */
function refuseTooMany(request: FastifyRequest, { points }: SentBatch): void {
  const limit = request.user === null ? BATCH_LIMITS.anonymous : BATCH_LIMITS.withToken
  if (points.count <= limit) return
  const count = points.count > BATCH_LIMITS.withToken ? `more than ${BATCH_LIMITS.withToken}` : points.count
  const tooMany = new ApiError('TOO_MANY_POINTS', `The call has ${count} points. ${hint(request)}`)
  throw chooseRefusal(request, tooMany, points.count <= BATCH_LIMITS.withToken)
}

/** The error for a large call; the error of an invalid token comes first where a valid one would allow it. */
function chooseRefusal({ callerError }: FastifyRequest, tooLarge: ApiError, needsCaller: boolean): Error {
  return (needsCaller && callerError) || tooLarge
}

const RULES = `
Answers up to ${BATCH_LIMITS.anonymous} points, or ${BATCH_LIMITS.withToken} with a token, in their order. Each has its values, or its own \`error\` and \`code\`. The tag \`advisory\` has the rules.`

function documentOperation(
  { product, parameters, request, response }: BatchSchemas<ProductDefinition>,
  forms: ReturnType<typeof defineBatchFormats>,
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
      'application/geo+json-seq': ref(PointLines),
      'text/csv': ref(PointTable),
      'application/geo+json': ref(PointCollection),
    },
    response: {
      200: {
        description: 'An answer for each point.',
        headers: { 'Advisory-Release': ReleaseHeader, 'Content-Disposition': DISPOSITION },
        content: documentFormats(FORMATS, {
          json: ref(response),
          ndjson: ref(AnswerLines),
          csv: ref(forms.table),
          geojson: ref(forms.collection),
        }),
      },
      ...errorResponses(
        'INVALID_PARAMETERS',
        'UNAUTHORIZED',
        'INSUFFICIENT_SCOPE',
        'MALFORMED_BODY',
        ...(product.seasonal ? (['CROP_NOT_AVAILABLE'] as const) : []),
        'NO_RELEASE',
        'RELEASE_GONE',
        'NOT_ACCEPTABLE',
        'TOO_MANY_POINTS',
        'UNSUPPORTED_MEDIA_TYPE',
      ),
    },
  }
}

/** Makes the reader of areas: one for all points, or one of each. @throws {ApiError} for a missing column */
function createAreaReader(
  points: SentPoints,
  { area, areasFrom, unit }: QuantityPlan,
): (index: number) => FieldArea | ApiError {
  if (area) return () => area
  const from = areasFrom as string
  const { table } = points
  if (table && !table.columns.includes(from)) {
    throw ApiError.invalid('area.from', `names ${from}, which no column is called`)
  }
  return (index) => {
    const [sent] = points.membersOf(index, [from])
    try {
      // The cells of a table are text.
      const isCell = table && typeof sent === 'string'
      return readFieldArea(from, isCell ? numberIn(withDecimalPoint(sent, table.delimiter)) : sent, unit)
    } catch (error) {
      if (error instanceof ApiError) return error
      throw error
    }
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    batch: SentBatch | null
  }
}

interface BatchOptions {
  lookup: Lookup
  schemas: BatchSchemas<ProductDefinition>[]
  forms: ReturnType<typeof defineBatchFormats>
  readRules: ReadRules
}

export async function batchRoutes(app: App, options: BatchOptions): Promise<void> {
  app.decorateRequest('batch', null)
  const bodyLimit = readBatchBodies(app)

  for (const schemas of options.schemas) {
    const { product, parameters } = schemas
    let answered = 0
    app.metrics.observe('agro_batch_points_total', () => answered, { product: product.code })
    const merge = queryMerger(parameters)
    const known = [...Object.keys(BatchParameters.properties), 'points']
    const note = ignoredNoter([...known, ...memberNames(app.additions, 'pixels')])
    app.route({
      method: 'POST',
      url: `/${product.code}/points`,
      bodyLimit,
      config: {
        public: true,
        scope: 'advisory',
        longBody: true,
        takesOwnPermit: true,
        preferences: ['handling=strict'],
      },
      schema: documentOperation(schemas, options.forms),
      preValidation: async (request) => {
        takeBatch(request)
        refuseFormer(request)
        note(request)
        refusePixelMembers(request)
        merge(request)
      },
      handler: ({ exchange }: Call) =>
        answerPoints(options, product, exchange, (points) => {
          answered += points
        }),
    })
  }
}

type Call = FastifyRequest<{ Body: BatchParameters }>

/** A question about many points, and the parts of its answer beside theirs. */
interface PointsQuestion extends BatchQuestion {
  /** Names of values that the answer repeats. */
  pass: readonly string[]
  /** Null without quantities. */
  rules: QuantityRules | null
}

/** The way of a point, for many: the reasons for none are parts of the answer. */
async function answerPoints(
  { lookup, readRules }: BatchOptions,
  product: ProductDefinition,
  exchange: Exchange<Call>,
  count: (points: number) => void,
): Promise<FastifyReply> {
  const { request } = exchange
  const preferred = mediaTypeOfBody(request)
  const format = negotiateFormat(exchange, FORMATS, { preferred })
  const asked = await withReleaseNamed(lookup, [product], request.body, exchange)
  const own = { product, request: asked, pause: createPause(exchange) }
  const question = await readQuestion(own, readRules, exchange)
  const advice = await waitInSteps(
    () => createBudget(exchange.app),
    (wait) => adviseBatch(lookup, question, exchange.clientKey, wait),
    databaseUnavailable,
  )
  count(question.count)
  sayIgnored(exchange)
  return sendPoints(exchange, format, question, lookup.reasons, advice)
}

/** Reads the points of a call as they are asked for, with what each of them passes and the area of its field. */
async function readQuestion(
  asked: Pick<BatchQuestion, 'product' | 'request' | 'pause'>,
  readRules: ReadRules,
  exchange: Exchange<Call>,
): Promise<PointsQuestion> {
  const { request } = exchange
  const { points } = request.batch as SentBatch
  const { pass = [] } = request.body
  const readPassed = pass.length > 0 ? await createPassReader(points, pass, asked.pause) : null
  const rules = await exchange.wait(() => readRules(request.body, [asked.product], 'points'))
  const readArea = rules && createAreaReader(points, rules.plan)
  const noteNames = createNameNoter(request, points, [...pass, rules?.plan.areasFrom ?? []].flat())
  const validate = request.compileValidationSchema(BatchPoint) as Validator
  return {
    ...asked,
    pass,
    rules,
    count: points.count,
    sliceLength: rules ? SLICE.withQuantities : SLICE.plain,
    pointAt(index: number): ReadPoint {
      const { passed = null, error = undefined } = readPassed?.(index) ?? {}
      const area = readArea?.(index) ?? null
      const missing = area instanceof ApiError ? area : error
      const point = readPoint(points, index, validate, missing, noteNames)
      return { point, passed, area: area instanceof ApiError ? null : area }
    },
  }
}

/** Sends the answers slice by slice, each of which leaves memory then. */
async function sendPoints(
  exchange: Exchange<Call>,
  format: Format,
  { product, pass, rules, pause, request: { condition } }: PointsQuestion,
  reasons: Reasons,
  advice: BatchAdvice,
): Promise<FastifyReply> {
  const { request, reply } = exchange
  const { sources, slices } = advice
  const members = ignoredMember(request)
  const items = createPointItems({ product, sources, passNames: pass, rules, condition, members })
  const releases = listReleaseCodes(sources)
  reply.header('advisory-release', releases.join(', ')).type(format.contentType)
  attach(reply, format.mediaType, `${releases.length === 1 ? releases[0] : product.code}-points`)
  const isShort = slices.length <= MOST_IN_ONE_PIECE
  // The slices have all that the answer still needs.
  Object.assign(request, { batch: null, body: undefined })
  const slicesOfItems = listItems(reasons, advice, (work) => exchange.wait(work))
  // A short answer is one piece.
  const pieceLength = isShort ? Number.POSITIVE_INFINITY : 1
  const pieces = writeItems(format.write(items), slicesOfItems, { pause, pieceLength })
  return reply.send(isShort ? (await pieces.next()).value : Readable.from(pieces))
}

/** Makes the function that notes unknown names of points; those of a table are noted at once. */
function createNameNoter(
  request: FastifyRequest,
  points: SentPoints,
  further: string[],
): (named: object) => void {
  const known = new Set([...Object.keys(BatchPoint.properties), ...further])
  for (const column of points.table?.columns ?? []) {
    if (column !== '' && !isPointColumn(column)) recordIgnored(request, { [column]: true }, known)
  }
  return (named) => recordIgnored(request, named, known)
}

/** Sets the points of a request aside: the body that is validated has the parameters for all points. */
function takeBatch(request: FastifyRequest): void {
  const batch = request.body as SentBatch | undefined
  if (!batch || batch.points.count === 0) throw ApiError.invalid('points', 'must not be empty')
  refuseTooMany(request, batch)
  request.batch = batch
  request.body = batch.parameters
}
