import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { ref } from '#schemas/common.ts'
import { toQuerySchema } from '#schemas/point-request.ts'
import {
  type Comparison,
  compareReleases,
  DEFAULT_THRESHOLD,
  Incomparable,
} from '#src/advice/comparison/compare.ts'
import { comparisonCsv, comparisonJson } from '#src/advice/comparison/figures.ts'
import { type Computation, computationUntil } from '#src/advice/polygon/computing.ts'
import { findRelease, type ReleaseRow } from '#src/catalog/release-queries.ts'
import { ADMIN_ERRORS, ApiError, errorResponses } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { attach, DISPOSITION } from '#src/http/formats.ts'
import { observeQueue } from '#src/http/metrics/metrics.ts'
import { readQuery } from '#src/http/parameters.ts'
import { createClientSignal, startDeadline, tooSlow } from '#src/http/plugins/time-budget.ts'
import { clientKeyOf, negotiate } from '#src/http/request.ts'
import { createLimiter } from '#src/lib/limiter.ts'
import { ReplacedMeanwhile } from '#src/lookup/releases.ts'
import { ChangesCsv, ChangesParams, ChangesQuery, changesComponents, ReleaseChanges } from './schemas.ts'

/** Comparisons read much, and admins are few. */
const LIMITS = { running: 1, waiting: 10 }

/** The time of a comparison with its wait in the queue: the usual timeout of proxies. */
const TIMEOUT_MS = 60_000
const late = () => tooSlow(TIMEOUT_MS)

const JSON_TYPE = 'application/json'
const CSV = 'text/csv'
const MEDIA_TYPES = [JSON_TYPE, CSV] as const
const TYPE_OF = { json: JSON_TYPE, csv: CSV } as const

const DESCRIPTION = `
The changes from release \`a\` to release \`b\`, area by area: means, coverage, and the share that changes by more than a threshold. For admins.

Means and cover are exact, as in advice for polygons. Gains, losses and changes are exact on the borders of areas. Inside they come from the summaries of tiles, with bounds; \`exact\` compares every pixel. A process makes one comparison at a time; after a minute the answer is 503 \`QUERY_TIMEOUT\`.`

type Call = FastifyRequest<{ Params: Static<typeof ChangesParams>; Querystring: Static<typeof ChangesQuery> }>

export async function comparison(app: App): Promise<void> {
  for (const schema of changesComponents) app.addSchema(schema)
  const tooMany = () => new ApiError('OVERLOADED', 'Comparison queue full; retry after 1 s.')
  const queue = createLimiter(LIMITS, tooMany)
  observeQueue(app.metrics, 'comparisons', queue.state)

  app.get(
    '/releases/:a/diff/:b',
    {
      config: { role: 'admin', scope: 'advisory', caching: 'never', ownTurns: true },
      schema: {
        operationId: 'compareReleases',
        summary: 'Compare two releases',
        description: DESCRIPTION.trim(),
        tags: ['catalog'],
        params: ChangesParams,
        querystring: toQuerySchema(ChangesQuery),
        response: {
          200: {
            description: 'The changes.',
            headers: { 'Content-Disposition': DISPOSITION },
            content: {
              [JSON_TYPE]: { schema: ref(ReleaseChanges) },
              [CSV]: { schema: ref(ChangesCsv) },
            },
          },
          ...errorResponses(
            ...ADMIN_ERRORS,
            'INVALID_PARAMETERS',
            'NOT_FOUND',
            'NO_AREAS',
            'NOT_ACCEPTABLE',
            'QUERY_TIMEOUT',
          ),
        },
      },
      preValidation: readQuery(ChangesQuery),
    },
    async (request: Call, reply: FastifyReply) => {
      const { format } = request.query
      const mediaType = format ? TYPE_OF[format] : negotiate(request, reply, MEDIA_TYPES)
      const codes = { before: request.params.a, after: request.params.b }
      const [clientKey, deadline] = [clientKeyOf(request), startDeadline(reply, TIMEOUT_MS, late)]
      const begin = () => compare(app, request, computationUntil(app, clientKey, deadline))
      const comparison = await queue.run(clientKey, begin, deadline.signal).finally(deadline.end)
      if (mediaType === CSV) attach(reply, CSV, 'changes')
      const rows = mediaType === CSV ? comparisonCsv(comparison) : comparisonJson(codes, comparison)
      return reply
        .type(`${mediaType}; charset=utf-8`)
        .send(Readable.from(sliceRows(app, request, reply, rows)))
    },
  )
}

/** So many rows take about a millisecond. */
const ROWS_A_SLICE = 100

/** Joins rows to slices, with pauses for other requests: a country may have thousands of areas. */
async function* sliceRows(
  { turns }: App,
  request: FastifyRequest,
  reply: FastifyReply,
  rows: Iterable<string>,
): AsyncGenerator<string> {
  const [clientKey, gone] = [clientKeyOf(request), createClientSignal(reply)]
  let slice: string[] = []
  for (const row of rows) {
    if (slice.push(row) < ROWS_A_SLICE) continue
    yield slice.join('')
    slice = []
    await turns.next(clientKey, gone)
  }
  yield slice.join('')
}

/** @throws {ApiError} where releases are missing or of different kinds, or no areas of the level are loaded */
async function compare(
  { database: { reader } }: App,
  { params: { a, b }, query }: Call,
  computation: Computation,
): Promise<Comparison> {
  const { wait } = computation
  const before = existing(a, await wait(() => findRelease(reader, a)))
  const after = existing(b, await wait(() => findRelease(reader, b)))
  const { level, threshold = 100 * DEFAULT_THRESHOLD, exact } = query
  const comparing = { level, threshold: threshold / 100, exact: exact === 'true' }
  return compareReleases(computation, reader, before, after, comparing).catch(refuse)
}

function refuse(error: unknown): never {
  if (error instanceof Incomparable) {
    const { field, rule } = error
    throw ApiError.invalid(
      field,
      field === 'b' ? `must be a release of the product and country of a: ${rule}` : rule,
    )
  }
  if (!(error instanceof ReplacedMeanwhile)) throw error
  throw new ApiError('NOT_FOUND', 'A release or an area was deleted meanwhile; ask again.')
}

function existing(code: string, release: ReleaseRow | undefined): ReleaseRow {
  if (release?.status === 'ready') return release
  throw new ApiError('NOT_FOUND', `There is no release ${code} that is complete.`)
}
