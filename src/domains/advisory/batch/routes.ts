import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import { ReleaseHeader } from '#schemas/advisory.ts'
import type { BatchParameters, BatchSchemas } from '#schemas/batch.ts'
import {
  AnswerLines,
  BATCH_LIMITS,
  type BatchForms,
  BatchPoint,
  PointCollection,
  PointLines,
  PointTable,
} from '#schemas/batch-forms.ts'
import { ref } from '#schemas/common.ts'
import { asQuery } from '#schemas/point-request.ts'
import { ApiError, BODY_ERRORS, errorResponses } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { attach, DISPOSITION, isFileType } from '#src/http/attachment.ts'
import { givingBack } from '#src/http/collected-body.ts'
import { FORMS, mediaTypeOf, OFFERS } from '#src/http/forms.ts'
import { negotiate, notAcceptable } from '#src/http/negotiation.ts'
import { queryMerger } from '#src/http/parameters.ts'
import { TOKEN_OF_NO_USE } from '#src/http/plugins/authentication.ts'
import { NOT_UTF8 } from '#src/http/plugins/body-parser.ts'
import { OPTIONAL_TOKEN } from '#src/http/plugins/openapi.ts'
import { inTime } from '#src/http/plugins/patience.ts'
import { databaseUnavailable } from '#src/http/refusals.ts'
import { type Wait, whileGettingOn } from '#src/lib/patience.ts'
import type { ProductDefinition } from '#src/products/define.ts'
import { exampleNoRelease } from '../lookup/example-reasons.ts'
import type { Lookup } from '../lookup/lookup.ts'
import { withReleaseNamed } from '../lookup/pinned-request.ts'
import { refuseProvenance } from '../lookup/point-only.ts'
import { seriesOf } from '../lookup/series.ts'
import { quantityColumns } from '../quantities/columns.ts'
import type { QuantityRules, ReadRules } from '../quantities/rules.ts'
import { adviseBatch, type BatchSize, SLICE, writeAnswer } from './answer.ts'
import { readBatchBodies, refuseTooMany, UNSUPPORTED_FORM } from './body.ts'
import { RefusedPoint, readPoint, type Validator } from './items.ts'
import { createPassage, type Passage, refuseOwnNames } from './passage.ts'
import { createPointAreas, type PointAreas } from './point-areas.ts'
import type { SentBatch, SentPoints } from './sent.ts'
import { createSliceTurns } from './slice-turns.ts'
import { createWriter, headerOf } from './writers.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The points of a call with many, as they were sent. */
    batch: SentBatch | null
  }
}

const RULES = `
One call may have ${BATCH_LIMITS.anonymous} points, and ${BATCH_LIMITS.withToken} with a valid token. They are all answered by one release, in their order, each by what the point endpoint would answer or by its own \`error\` and \`code\`: one that is not valid or has no value spoils nothing for the others.

Points are sent as JSON, as NDJSON (a point a line), as CSV or as GeoJSON. \`Accept\` chooses among the same forms for the answer; without it, the answer has the form of the request. What applies to all points comes in the query; a JSON body may have it as well, and wins. \`pass=area_ha,farmer\` passes columns or properties of that name through to the answers.

Long answers are streamed. If the service fails midway, the connection is cut: an answer is whole when its transfer ends properly. Long bodies are received when there is room for them, those of different callers by turns; where too many wait, or one has waited for long, the answer is 503 \`OVERLOADED\`. Calls with many points are not kept in the caller's history.`

export interface BatchOptions {
  lookup: Lookup
  schemas: BatchSchemas<ProductDefinition>[]
  forms: BatchForms
  readRules: ReadRules
}

/** The endpoints that answer for many points in one call. Their bodies are read here, not by the app. */
export async function batchRoutes(
  app: App,
  { lookup, schemas, forms, readRules }: BatchOptions,
): Promise<void> {
  app.decorateRequest('batch', null)
  const turnsOf = createSliceTurns(app)
  const bodyLimit = readBatchBodies(app)

  for (const { product, parameters, request, response } of schemas) {
    const { code, names } = product
    let answered = 0
    app.metrics.observe('agro_batch_points_total', () => answered, { product: code })
    const merge = queryMerger(parameters)
    app.route({
      method: 'POST',
      url: `/${code}/points`,
      bodyLimit,
      config: { public: true, scope: 'advisory', longBody: true, ownTurns: true },
      schema: {
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
      },
      preValidation: async (call) => {
        takeBatch(call)
        refuseProvenance(call)
        merge(call)
      },
      handler: async (call: FastifyRequest<{ Body: BatchParameters }>, reply: FastifyReply) => {
        const { form, points } = call.batch as SentBatch
        const answerForm = negotiate(call, reply, OFFERS[form])
        const validate = call.compileValidationSchema(BatchPoint) as Validator
        const series = seriesOf(product, await withReleaseNamed(lookup, product, call.body, call, reply))
        const { pass = [] } = call.body
        const passage = pass.length > 0 ? createPassage(points, pass) : null
        const turns = turnsOf(call, reply)
        const rules = await inTime(call, reply, () => readRules(call.body, [product], 'points'))
        const areas = rules && createPointAreas(points, rules.plan)
        const pointAt = pointsOf(points, validate, passage, areas)
        const advice = await whileGettingOn(
          app.config.STATEMENT_TIMEOUT_MS,
          (wait) => adviseBatch(lookup, series, turns, sizeOf(points, rules), pointAt, wait),
          databaseUnavailable,
        )
        answered += points.count
        const { release } = advice
        const quantities = rules &&
          areas && { rules, areaOf: areas.of, columns: quantityColumns(rules, product, release) }
        refuseOwnNames(pass, headerOf(product, release, quantities))
        reply.header('advisory-release', release.code).type(mediaTypeOf(answerForm))
        if (isFileType(answerForm)) attach(reply, answerForm, `${release.code}-points`)
        const writer = createWriter(answerForm, product, release, pass, quantities)
        const long = advice.slices.length > 1
        // The slices have all of it that is still needed.
        Object.assign(call, { batch: null, body: undefined })
        const wait: Wait = (something) => inTime(call, reply, something)
        const written = writeAnswer(lookup.reasons, series, advice, writer, turns, wait, passage)
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
): (index: number) => BatchPoint | RefusedPoint {
  function take(index: number): ApiError | undefined {
    const unpassable = passage?.take(index)
    return areas?.take(index) ?? unpassable
  }
  return (index) => {
    const point = readPoint(points, index, validate, take)
    if (areas && !(point instanceof RefusedPoint)) areas.bind(point)
    return point
  }
}

function errorsOf(product: ProductDefinition) {
  return errorResponses(
    'INVALID_PARAMETERS',
    ['UNAUTHORIZED', TOKEN_OF_NO_USE],
    'INSUFFICIENT_SCOPE',
    ...BODY_ERRORS,
    ['MALFORMED_BODY', NOT_UTF8],
    ...(product.seasonal ? (['CROP_NOT_AVAILABLE'] as const) : []),
    exampleNoRelease(product),
    'RELEASE_GONE',
    ['NOT_ACCEPTABLE', notAcceptable(FORMS)],
    'TOO_MANY_POINTS',
    ['UNSUPPORTED_MEDIA_TYPE', UNSUPPORTED_FORM],
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

/** Puts the points of a call aside: what is validated as its body are the parameters that apply to all. */
function takeBatch(call: FastifyRequest): void {
  const batch = call.body as SentBatch | undefined
  if (!batch || batch.points.count === 0) throw ApiError.invalid('points', 'must not be empty')
  refuseTooMany(call, batch)
  call.batch = batch
  call.body = batch.parameters
}
