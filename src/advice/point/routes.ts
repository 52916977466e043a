import type { FastifyRequest } from 'fastify'
import type { TObject } from 'typebox'
import { HistoryHeader, PointAnswerTable, type PointSchemas, ReleaseHeader } from '#schemas/advisory.ts'
import { ref } from '#schemas/common.ts'
import {
  type AnswerOptions,
  asQuery,
  PLAIN_PARAMETERS,
  toQuerySchema,
  withFormat,
} from '#schemas/point-request.ts'
import { joinNames, ofSeasonless } from '#schemas/product.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { ApiError, BASE, type ErrorCode, NO_VALUE_ERRORS } from '#src/errors.ts'
import type { RecordAdvisory } from '#src/history/keep-answer.ts'
import { type App, OPTIONAL_TOKEN } from '#src/http/app.ts'
import { ignoredNoter, mergeQueryIntoBody, readQuery } from '#src/http/parameters.ts'
import { isObject } from '#src/lib/json.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import type { ReadRules } from '../quantities/rules.ts'
import { createPointHandlers } from './advise.ts'
import type { Topic } from './answer.ts'
import { documentErrors, documentTexts } from './documents.ts'

interface PointEndpoint extends Topic {
  path: string
  /** The beginning of its operation ids. */
  name: string
  /** Whether an unknown crop of the country is an error. */
  needsCrop: boolean
  request: TObject
  query: TObject
  response: TObject
  summary: string
  description: string
}

export function pointRoutes(
  app: App,
  schemas: readonly PointSchemas<ProductDefinition>[],
  allProductsResponse: TObject,
  { lookup, record, readRules }: { lookup: Lookup; record: RecordAdvisory; readRules: ReadRules },
): void {
  const handlers = createPointHandlers(lookup, record)
  const products = schemas.map(({ product }) => product)
  const { additions } = app
  const endpoints = [
    ...schemas.map((one) => productEndpoint(one, additions, readRules)),
    allProductsEndpoint(products, additions, allProductsResponse, readRules),
  ]
  app.askedByPages(
    ({ countryCode, lat, lng }) => `/advisory/point?country_code=${countryCode}&lat=${lat}&lng=${lng}`,
  )
  for (const endpoint of endpoints) {
    app.route({ ...postRoute(endpoint, additions), handler: handlers.post(endpoint) })
    app.route({ ...getRoute(endpoint, additions), handler: handlers.get(endpoint) })
  }
}

function productEndpoint(
  { product, request, response }: PointSchemas<ProductDefinition>,
  { formats }: AnswerOptions,
  readRules: ReadRules,
): PointEndpoint {
  const { code, names, seasonal, descriptions } = product
  return {
    path: `/${code}/point`,
    name: code,
    products: [product],
    needsCrop: seasonal,
    hasSections: false,
    readRules,
    request,
    query: withFormat(request, ['json', 'csv'], formats),
    response,
    summary: `${names.title} at a point`,
    description: descriptions.point,
  }
}

function allProductsEndpoint(
  products: ProductDefinition[],
  { request, formats }: AnswerOptions,
  response: TObject,
  readRules: ReadRules,
): PointEndpoint {
  const subjects = joinNames(products.map(({ names }) => names.subject))
  const plain = ofSeasonless(products, (names, needs) => `: ${names} ${needs} none`)
  return {
    path: '/point',
    name: 'everything',
    products,
    needsCrop: false,
    hasSections: true,
    readRules,
    request,
    query: withFormat(request, ['json'], formats),
    response,
    summary: 'Everything for a point',
    description: `
${subjects.charAt(0).toUpperCase()}${subjects.slice(1)} in one call: each answer, or null with \`error\` and \`code\`${plain}.

Without \`country_code\` and \`release\`, the country of the point applies (\`country_source\`), and by default its crop. Points in no country get the defaults.

If no product has a value, the answer is a 404 with the most telling reason, and \`details\` for each product.`.trim(),
  }
}

const CITED = {
  type: 'string',
  description:
    'The address of the answer itself (`rel="cite-as"`), where the request names a release: it answers the same as long as the release is there.',
}

const POST_RULES = ' Parameters may also stand in the query; the body wins. The tag `advisory` has the rules.'

const GET_RULES = 'Answers as POST does, from the query, and may be cached. The tag `advisory` has the rules.'

function commonParts({ needsCrop, response }: PointEndpoint, { formats }: AnswerOptions) {
  const texts = documentTexts(formats)
  const errors: ErrorCode[] = [
    'INVALID_PARAMETERS',
    ...(needsCrop ? (['CROP_NOT_AVAILABLE'] as const) : []),
    ...NO_VALUE_ERRORS,
    'RELEASE_GONE',
  ]
  return {
    errors,
    success: {
      description: 'The values at the point.',
      headers: { 'Advisory-Release': ReleaseHeader, 'Advisory-History': HistoryHeader, ...texts.headers },
      content: { 'application/json': { schema: ref(response) }, ...texts.content },
    },
    config: {
      public: true,
      scope: 'advisory',
      preferences: ['history=none', 'server-timing', 'return=provenance', 'handling=strict'],
      takesOwnPermit: true,
    },
    operation: { tags: ['advisory'], security: OPTIONAL_TOKEN },
  } as const
}

function postRoute(endpoint: PointEndpoint, additions: AnswerOptions) {
  const { path, name, request, summary, description } = endpoint
  const note = pointNoter(request, additions)
  const { errors, success, config, operation } = commonParts(endpoint, additions)
  return {
    method: 'POST',
    url: path,
    config: { ...config, idempotent: 'by handler' },
    schema: {
      ...operation,
      operationId: `${name}AtPoint`,
      summary,
      description: description + POST_RULES,
      queryAlternative: asQuery(request, PLAIN_PARAMETERS),
      body: ref(request),
      response: { 200: success, ...documentErrors(additions.formats, errors) },
    },
    preValidation: mergeQueryIntoBody(request, (call) => {
      refusePlace(call, path)
      note(call)
    }),
  } as const
}

function getRoute(endpoint: PointEndpoint, additions: AnswerOptions) {
  const { path, name, query, summary, hasSections } = endpoint
  const note = pointNoter(query, additions)
  const { errors, success, config, operation } = commonParts(endpoint, additions)
  const table = !hasSections && { 'text/csv': { schema: ref(PointAnswerTable) } }
  return {
    method: 'GET',
    url: path,
    config: { ...config, caching: 'shared' },
    schema: {
      ...operation,
      operationId: `get${name.charAt(0).toUpperCase()}${name.slice(1)}AtPoint`,
      summary: `${summary}, by GET`,
      description: GET_RULES,
      querystring: toQuerySchema(query),
      response: {
        200: {
          ...success,
          headers: { ...success.headers, Link: CITED },
          content: { ...success.content, ...table },
        },
        304: {
          type: 'null',
          description: 'The answer is the one that `If-None-Match` names.',
          headers: { 'Advisory-Release': ReleaseHeader },
        },
        ...documentErrors(additions.formats, errors),
      },
    },
    preValidation: readQuery(query, (request) => {
      refusePlace(request, path)
      note(request)
    }),
  } as const
}

/** @throws {ApiError} INVALID_PARAMETERS for a place by its name, with the address that answers for it */
function refusePlace({ query, body }: FastifyRequest, path: string): void {
  const inQuery = query as Record<string, unknown>
  const inBody = isObject(body) ? (body as Record<string, unknown>) : {}
  const place = inBody.place ?? inQuery.place
  if (typeof place !== 'string' || place.trim() === '') return
  const hasPosition = (['lat', 'lng'] as const).every((name) => (inBody[name] ?? inQuery[name]) !== undefined)
  // A body may have members of its own.
  if (inBody.place !== undefined && hasPosition) return
  const address = `GET ${BASE}/advisory${path.replace(/\/point$/, '')}?place=${encodeURIComponent(place)}`
  const message = `place must be left out here, where lat and lng are required: for a place by its name send ${address}`
  throw new ApiError('INVALID_PARAMETERS', `${message}.`, [{ field: 'place', message }])
}

/** Makes a hook that notes parameters that no endpoint for points has: one body may serve all of them. */
function pointNoter(request: TObject, all: AnswerOptions) {
  return ignoredNoter(Object.keys({ ...all.request.properties, ...request.properties }))
}
