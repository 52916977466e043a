import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ChangesCsv, ChangesParams, ChangesQuery, ReleaseChanges } from '#schemas/changes.ts'
import { ref } from '#schemas/common.ts'
import { queryOf } from '#schemas/point-request.ts'
import { findRelease, type ReleaseRow } from '#src/domains/releases/queries.ts'
import { ApiError, errorResponses, noAreas } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { attach, DISPOSITION } from '#src/http/attachment.ts'
import { untilGone } from '#src/http/deadline.ts'
import { negotiate } from '#src/http/negotiation.ts'
import { readQuery } from '#src/http/parameters.ts'
import { partyOf } from '#src/http/party.ts'
import { ReplacedMeanwhile } from '../../lookup/replaced.ts'
import type { Computation } from '../computing.ts'
import { comparisonCsv, comparisonJson } from './answer.ts'
import { DEFAULT_THRESHOLD, TooManyAreas, usualLevel, whyIncomparable } from './comparable.ts'
import { type Comparison, compareReleases } from './compare.ts'
import { createComparing } from './comparing.ts'
import { findLevels } from './queries.ts'

const JSON_TYPE = 'application/json'
const CSV = 'text/csv'
const MEDIA_TYPES = [JSON_TYPE, CSV] as const
const TYPE_OF = { json: JSON_TYPE, csv: CSV } as const

const DESCRIPTION = `
The changes from release \`a\` to release \`b\`, area by area: means, coverage, and the share that changes by more than a threshold. For admins.

Means and cover are exact, as in advice for polygons. Gains, losses and changes are exact on the borders of areas. Inside they come from the summaries of tiles, with bounds; \`exact\` compares every pixel. A process makes one comparison at a time; after a minute the answer is 503 \`QUERY_TIMEOUT\`.`

type Call = FastifyRequest<{ Params: ChangesParams; Querystring: ChangesQuery }>

export function changesRoutes(app: App): void {
  const compareInTime = createComparing(app)

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
        querystring: queryOf(ChangesQuery),
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
            'UNAUTHORIZED',
            'INSUFFICIENT_SCOPE',
            'FORBIDDEN',
            'TWO_FACTOR_SETUP_REQUIRED',
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
      const comparison = await compareInTime(request, reply, (computation) =>
        compare(app, request, computation),
      )
      if (mediaType === CSV) attach(reply, CSV, 'changes')
      const rows = mediaType === CSV ? comparisonCsv(comparison) : comparisonJson(codes, comparison)
      return reply.type(`${mediaType}; charset=utf-8`).send(Readable.from(inTurn(app, request, reply, rows)))
    },
  )
}

/** So many rows take about a millisecond. */
const ROWS_A_TURN = 100

/** Rows in pieces, between which others have their turn: a country may have thousands of areas. */
async function* inTurn(
  { turns }: App,
  request: FastifyRequest,
  reply: FastifyReply,
  rows: Iterable<string>,
): AsyncGenerator<string> {
  const [party, gone] = [partyOf(request), untilGone(reply)]
  let piece: string[] = []
  for (const row of rows) {
    if (piece.push(row) < ROWS_A_TURN) continue
    yield piece.join('')
    piece = []
    await turns.next(party, gone)
  }
  yield piece.join('')
}

/** @throws {ApiError} where the releases are not there or cannot be compared, or no areas of the level are loaded */
async function compare(
  { database: { reader } }: App,
  { params: { a, b }, query }: Call,
  computation: Computation,
): Promise<Comparison> {
  const { wait } = computation
  const before = existing(a, await wait(() => findRelease(reader, a)))
  const after = existing(b, await wait(() => findRelease(reader, b)))
  const incomparable = whyIncomparable(before, after)
  if (incomparable)
    throw ApiError.invalid(
      'b',
      `must be a release of the product and country of a: ${incomparable.slice(0, -1)}`,
    )
  const { name, levels } = await wait(() => findLevels(reader, after.countryCode))
  const { level, threshold = 100 * DEFAULT_THRESHOLD, exact } = query
  if (level !== undefined && !levels.includes(level)) throw noAreas({ name, levels }, level)
  const comparing = {
    level: level ?? usualLevel(levels),
    threshold: threshold / 100,
    exact: exact === 'true',
  }
  const releases = { before: before.id, after: after.id, country: { code: after.countryCode, name } }
  return compareReleases(computation, reader, releases, comparing).catch(refuse)
}

/** @throws {ApiError} where that is too much, or something is no longer what it was when it was found */
function refuse(error: unknown): never {
  if (error instanceof TooManyAreas) throw ApiError.invalid('level', error.rule)
  if (!(error instanceof ReplacedMeanwhile)) throw error
  throw new ApiError('NOT_FOUND', 'A release or an area was deleted meanwhile; ask again.')
}

function existing(code: string, release: ReleaseRow | undefined): ReleaseRow {
  if (release?.status === 'ready') return release
  throw new ApiError('NOT_FOUND', `There is no release ${code} that is complete.`)
}
