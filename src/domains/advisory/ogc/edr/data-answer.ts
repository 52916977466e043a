import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '#src/errors.ts'
import { negotiate } from '#src/http/negotiation.ts'
import { versionOf } from '../../lookup/published-release.ts'
import { GEOJSON_TYPE, isCached, JSON_TYPE } from '../answers.ts'
import { DEFAULT_CRS } from '../crs.ts'
import { type Parameters, type Period, periodOf } from '../parameters.ts'
import { COVERAGE_JSON_TYPE, coverageJsonOf, geoJsonOf, type Located } from './coverage-json.ts'
import { namedParameters, type ReleaseParameter } from './parameters.ts'
import type { ReleaseCollection } from './releases.ts'

/** What values are answered as, by how `f` names it. */
export const OUTPUT_FORMATS = { CoverageJSON: COVERAGE_JSON_TYPE, GeoJSON: GEOJSON_TYPE } as const

/** What all queries for values take. */
export const DATA_PARAMETERS = ['f', 'crs', 'datetime', 'parameter-name'] as const
export type DataQuery = Parameters<(typeof DATA_PARAMETERS)[number]>

/** What a query asks of a collection. */
export interface DataRequest {
  collection: ReleaseCollection
  parameters: ReleaseParameter[]
  type: string
}

/** Names of the one system that values are asked for and answered in. */
const CRS_NAMES = ['CRS84', DEFAULT_CRS.uri]

/** @throws {ApiError} where a parameter is not one, or the release is not of the time that is asked for */
export function dataRequestOf(
  request: FastifyRequest,
  reply: FastifyReply,
  query: DataQuery,
  collection: ReleaseCollection,
): DataRequest {
  const { f, crs } = query
  if (crs !== undefined && !CRS_NAMES.includes(crs)) {
    throw ApiError.invalid('crs', `must be one of ${CRS_NAMES.join(', ')}`, CRS_NAMES)
  }
  refuseOtherTime(collection, periodOf(query.datetime))
  const parameters = namedParameters(collection.parameters, query['parameter-name'])
  return { collection, parameters, type: typeOf(request, reply, f) }
}

function typeOf(request: FastifyRequest, reply: FastifyReply, f: string | undefined): string {
  if (f === undefined) return negotiate(request, reply, [COVERAGE_JSON_TYPE, GEOJSON_TYPE, JSON_TYPE])
  const formats = Object.entries(OUTPUT_FORMATS)
  const format = formats.find(([name]) => name.toLowerCase() === f.toLowerCase())
  const names = formats.map(([name]) => name)
  if (!format) throw ApiError.invalid('f', `must be one of ${names.join(', ')}`, names)
  return format[1]
}

function refuseOtherTime({ time, release }: ReleaseCollection, period: Period | null): void {
  if (time === null || period === null) return
  const first = new Date(time)
  const next = Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 1)
  if (period[0] < next && period[1] >= first.getTime()) return
  throw ApiError.invalid('datetime', `must meet the month of ${release.code}, which begins at ${time}`)
}

/**
 * @param version of what else it is made of
 * @returns whether the client has the answer already
 */
export function isDataCached(
  request: FastifyRequest,
  reply: FastifyReply,
  { type, collection }: DataRequest,
  version = '',
): boolean {
  return isCached(request, reply, { type, isHtml: false }, `${versionOf(collection.release)} ${version}`)
}

/** Answers with values, which are those of all layers of the release. */
export function sendData(
  reply: FastifyReply,
  { collection, parameters, type }: DataRequest,
  located: readonly Located[],
  { label, endpoint }: { label: string; endpoint: string },
): FastifyReply {
  const frame = { parameters, time: collection.time }
  const chosen = located.map(({ place, values }) => ({
    place,
    values: parameters.map(({ layer }) => values[layer] ?? null),
  }))
  const body =
    type === GEOJSON_TYPE ? geoJsonOf(frame, chosen, label, endpoint) : coverageJsonOf(frame, chosen)
  // As a buffer: programs that know CoverageJSON know no parameters of its type.
  return reply
    .type(type)
    .header('advisory-release', collection.release.code)
    .send(Buffer.from(JSON.stringify(body)))
}
