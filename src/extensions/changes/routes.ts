import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { ref } from '#schemas/common.ts'
import { toQuerySchema } from '#schemas/point-request.ts'
import {
  type ChangeRow,
  type Comparison,
  compareReleases,
  DEFAULT_THRESHOLD,
} from '#src/advice/comparison/compare.ts'
import type { Computation } from '#src/advice/polygon/tiles.ts'
import { computationUntil } from '#src/advice/polygon/work.ts'
import { findRelease, type ReleaseRow } from '#src/catalog/release-queries.ts'
import { ADMIN_ERRORS, ApiError, ReplacedMeanwhile } from '#src/errors.ts'
import { type App, errorResponses } from '#src/http/app.ts'
import {
  attach,
  CSV,
  documentFile,
  JSON_FORMAT,
  negotiateFormat,
  sendPieces,
  writeItems,
} from '#src/http/formats.ts'
import { observeQueue } from '#src/http/metrics/metrics.ts'
import { readQuery } from '#src/http/parameters.ts'
import { createPause, startDeadline, tooSlow } from '#src/http/plugins/time-budget.ts'
import { createLimiter } from '#src/lib/limiter.ts'
import { ChangesCsv, ChangesParams, ChangesQuery, changesComponents, ReleaseChanges } from './schemas.ts'
import { CHANGE_WRITERS } from './writing.ts'

/** Comparisons read much, and admins are few. */
const LIMITS = { running: 1, waiting: 10 }

/** The time of a comparison with its wait in the queue: the usual timeout of proxies. */
const TIMEOUT_MS = 60_000
const late = () => tooSlow(TIMEOUT_MS)

const FORMATS = [JSON_FORMAT, CSV]

/** Of an answer, in characters. */
const PIECE_LENGTH = 32_768

const DESCRIPTION = `
The changes from release \`a\` to release \`b\`, area by area: means, coverage, and the share that changes by more than a threshold. For admins.

Means and cover are exact, as in advice for polygons. Gains, losses and changes are exact on the borders of areas. Inside they come from the summaries of tiles, with bounds; \`exact\` compares every pixel. A process makes one comparison at a time; after a minute the answer is 503 \`QUERY_TIMEOUT\`.`

type ComparisonRequest = FastifyRequest<{
  Params: Static<typeof ChangesParams>
  Querystring: Static<typeof ChangesQuery>
}>

export async function comparison(app: App): Promise<void> {
  for (const schema of changesComponents) app.addSchema(schema)
  const tooMany = () => new ApiError('OVERLOADED', 'Comparison queue full; retry after 1 s.')
  const queue = createLimiter(LIMITS, tooMany)
  observeQueue(app.metrics, 'comparisons', queue.state)

  app.get(
    '/releases/:a/diff/:b',
    {
      config: { role: 'admin', scope: 'advisory', caching: 'never', takesOwnPermit: true },
      schema: {
        operationId: 'compareReleases',
        summary: 'Compare two releases',
        description: DESCRIPTION.trim(),
        tags: ['catalog'],
        params: ChangesParams,
        querystring: toQuerySchema(ChangesQuery),
        response: {
          200: documentFile('The changes.', FORMATS, { json: ref(ReleaseChanges), csv: ref(ChangesCsv) }),
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
    async (request: ComparisonRequest, reply: FastifyReply) => {
      const { name, mediaType } = negotiateFormat(request.exchange, FORMATS, { named: request.query.format })
      const [clientKey, deadline] = [request.exchange.clientKey, startDeadline(reply, TIMEOUT_MS, late)]
      const begin = () => compare(app, request, computationUntil(app, clientKey, deadline))
      const comparison = await queue.run(clientKey, begin, deadline.signal).finally(deadline.end)
      attach(reply, mediaType, 'changes')
      reply.type(`${mediaType}; charset=utf-8`)
      const writing = { pause: createPause(request.exchange), pieceLength: PIECE_LENGTH }
      const writer = CHANGE_WRITERS[name as keyof typeof CHANGE_WRITERS](comparison)
      return sendPieces(reply, [], writeItems(writer, listSlices(comparison), writing))
    },
  )
}

/** The rows of an area at a time: a country may have thousands of areas. */
async function* listSlices({ layers, rows }: Comparison): AsyncGenerator<ChangeRow[]> {
  for (let at = 0; at < rows.length; at += layers.length) yield rows.slice(at, at + layers.length)
}

/** @throws {ApiError} where releases are missing or of different kinds, or no areas of the level are loaded */
async function compare(
  { database: { reader } }: App,
  { params: { a, b }, query }: ComparisonRequest,
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
  if (!(error instanceof ReplacedMeanwhile)) throw error
  throw new ApiError('NOT_FOUND', 'A release or an area was deleted meanwhile; ask again.')
}

function existing(code: string, release: ReleaseRow | undefined): ReleaseRow {
  if (release?.status === 'ready') return release
  throw new ApiError('NOT_FOUND', `There is no release ${code} that is complete.`)
}
