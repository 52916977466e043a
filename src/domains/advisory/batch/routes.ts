import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { BatchParameters, type BatchSchemas } from '#schemas/batch.ts'
import { type BatchForms, BatchPoint } from '#schemas/batch-forms.ts'
import { ApiError } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { attach, isFileType } from '#src/http/attachment.ts'
import { givingBack } from '#src/http/collected-body.ts'
import { mediaTypeOf, OFFERS } from '#src/http/forms.ts'
import { ignoredMember, ignoredNoter, noteUnknown, sayIgnored } from '#src/http/ignored.ts'
import { negotiate } from '#src/http/negotiation.ts'
import { queryMerger } from '#src/http/parameters.ts'
import { inTime } from '#src/http/plugins/patience.ts'
import { databaseUnavailable } from '#src/http/refusals.ts'
import { type Wait, whileGettingOn } from '#src/lib/patience.ts'
import type { ProductDefinition } from '#src/products/define.ts'
import type { Lookup } from '../lookup/lookup.ts'
import { withReleaseNamed } from '../lookup/pinned-request.ts'
import { refuseProvenance } from '../lookup/point-only.ts'
import { releasesOf } from '../lookup/sources.ts'
import type { QuantityRules, ReadRules } from '../quantities/rules.ts'
import { adviseBatch, type BatchSize, SLICE, writeAnswer } from './answer.ts'
import { readBatchBodies, refuseTooMany } from './body.ts'
import { columnsOf, headerOf } from './columns.ts'
import { isPointColumn } from './csv.ts'
import { documentationOf } from './documented.ts'
import { RefusedPoint, readPoint, type Validator } from './items.ts'
import { createPassage, type Passage, refuseOwnNames } from './passage.ts'
import { createPointAreas, type PointAreas } from './point-areas.ts'
import type { SentBatch, SentPoints } from './sent.ts'
import { createSliceTurns } from './slice-turns.ts'
import { createWriter } from './writers.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The points of a call with many, as they were sent. */
    batch: SentBatch | null
  }
}

export interface BatchOptions {
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
        const rules = await inTime(call, reply, () => readRules(call.body, [product], 'points'))
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
        const wait: Wait = (something) => inTime(call, reply, something)
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
