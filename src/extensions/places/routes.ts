import type { FastifyReply, FastifyRequest } from 'fastify'
import { type TObject, type TSchema, Type } from 'typebox'
import { PointAnswerTable, type PointSchemas, ReleaseHeader } from '#schemas/advisory.ts'
import { ref } from '#schemas/common.ts'
import { type PointRequest, toQuerySchema } from '#schemas/point-request.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { formerRefusal } from '#src/advice/additions.ts'
import { type Answer, answerFrom, sendAnswer, takeFormat } from '#src/advice/answer.ts'
import { refusePixelMembers } from '#src/advice/bodies.ts'
import { createPointHandlers, type PointHandlers } from '#src/advice/point/advise.ts'
import type { Topic } from '#src/advice/point/answer.ts'
import { documentErrors, documentTexts } from '#src/advice/point/documents.ts'
import { listStatisticKeys } from '#src/advice/polygon/figures.ts'
import { createOutline } from '#src/advice/polygon/geometry.ts'
import { ApiError, BASE, type ErrorCode, NO_VALUE_ERRORS } from '#src/errors.ts'
import { type App, OPTIONAL_TOKEN } from '#src/http/app.ts'
import type { Exchange } from '#src/http/exchange.ts'
import { ignoredMember, ignoredNoter, readQuery } from '#src/http/parameters.ts'
import type { LocatableRequest } from '#src/lookup/places.ts'
import { positionOf } from '#src/lookup/releases.ts'
import type { Core } from '../extension.ts'
import { adviseOnRegion, type RegionParts } from './advise.ts'
import { createPlaces, type Place, type Places } from './place.ts'
import { definePlaceQuery, documentPlaceQuery } from './schemas.ts'
import { searchRoute } from './search.ts'

const DESCRIPTION =
  'The mean of an area or a saved field, or the values at a position. The tag `advisory` has the rules.'

interface PlaceOptions extends RegionParts {
  points: PointHandlers
}

type PlaceQuery = Omit<PointRequest, 'lat' | 'lng'> & {
  place: string
  level?: number
  format?: string
}
type Call = FastifyRequest<{ Querystring: PlaceQuery }>

/** The operations for places by their names, and the search of areas. */
export async function places(app: App, { schemas, record, ...parts }: Core): Promise<void> {
  searchRoute(app, parts.lookup)
  const answers = [...schemas.polygons, schemas.allProducts].map(({ response }) => response)
  const options = { ...parts, points: createPointHandlers(parts.lookup, record) }
  await app.register(
    async (scope) => {
      scope.addHook('preValidation', formerRefusal)
      placeRoutes(scope, schemas.points, answers, options)
    },
    { prefix: '/advisory' },
  )
}

/** One for each product, and one for all. */
function placeRoutes(
  app: App,
  schemas: readonly PointSchemas<ProductDefinition>[],
  answers: readonly TObject[],
  options: PlaceOptions,
): void {
  const places = createPlaces(app, options.lookup)
  const { readRules } = options
  const products = schemas.map(({ product }) => product)
  for (const [index, { product, request, response }] of schemas.entries()) {
    const topic = { products: [product], hasSections: false, readRules }
    const answer = Type.Union([ref(answers[index] as TObject), ref(response)])
    app.route(placeRoute(app, topic, request, answer, places, options))
  }
  const topic = { products, hasSections: true, readRules }
  app.route(placeRoute(app, topic, app.additions.request, ref(answers.at(-1) as TObject), places, options))
}

function placeRoute(
  { additions }: App,
  topic: Topic,
  request: TObject,
  answer: TSchema,
  places: Places,
  options: PlaceOptions,
) {
  const { products, hasSections } = topic
  const [{ code, names, seasonal }] = products as [ProductDefinition]
  const name = hasSections ? 'Everything' : code.charAt(0).toUpperCase() + code.slice(1)
  const path = hasSections ? '' : `/${code}`
  const { formats } = additions
  const texts = documentTexts(formats)
  const query = definePlaceQuery(request, hasSections ? ['json'] : ['json', 'csv'], formats)
  const note = ignoredNoter(Object.keys(query.properties))
  const errors: ErrorCode[] = [
    ...(seasonal ? (['CROP_NOT_AVAILABLE'] as const) : []),
    ...(['INVALID_PARAMETERS', 'UNAUTHORIZED', 'INSUFFICIENT_SCOPE', 'UNKNOWN_AREA', 'NOT_FOUND'] as const),
    ...([...NO_VALUE_ERRORS, 'RELEASE_GONE', 'QUERY_TIMEOUT'] as const),
  ]
  return {
    method: 'GET',
    url: path,
    prefixTrailingSlash: 'no-slash',
    config: {
      public: true,
      scope: 'advisory',
      caching: 'shared',
      takesOwnPermit: true,
      preferences: ['history=none', 'handling=strict'],
    },
    schema: {
      operationId: `get${name}AtPlace`,
      summary: `${hasSections ? 'Everything' : names.title} for a place by its name`,
      description: DESCRIPTION,
      tags: ['advisory'],
      security: OPTIONAL_TOKEN,
      querystring: toQuerySchema(query),
      queryAlternative: documentPlaceQuery(query, additions),
      response: {
        200: {
          description: 'The means of the area or the field, or the values at the position.',
          headers: { 'Advisory-Release': ReleaseHeader, ...texts.headers },
          content: {
            'application/json': { schema: answer },
            ...texts.content,
            ...(!hasSections && { 'text/csv': { schema: ref(PointAnswerTable) } }),
          },
        },
        304: { type: 'null', description: 'The answer is the one that `If-None-Match` names.' },
        ...documentErrors(formats, errors),
      },
    },
    preValidation: readQuery(query, (call) => {
      refusePosition(call, path)
      note(call)
    }),
    handler: async ({ exchange }: Call, reply: FastifyReply) => {
      await answerPlace({ topic, places, options }, exchange)
      return reply
    },
  } as const
}

/** Names that a longitude and a latitude are sent by. */
const POSITION_NAMES = { lat: ['lat', 'latitude', 'y'], lng: ['lng', 'lon', 'long', 'longitude', 'x'] }

/** @throws {ApiError} INVALID_PARAMETERS for a position, with the address that answers for it */
function refusePosition({ query: sent }: FastifyRequest, path: string): void {
  const query = sent as Record<string, string | string[]>
  const find = (names: string[]) =>
    names.map((name) => query[name]).find((value) => typeof value === 'string')
  const [lat, lng] = [find(POSITION_NAMES.lat), find(POSITION_NAMES.lng)]
  if (lat === undefined || lng === undefined) return
  const names = Object.values(POSITION_NAMES).flat()
  const others = Object.entries(query).filter(([name]) => name !== 'place' && !names.includes(name))
  const point = new URLSearchParams({ lat: String(lat), lng: String(lng) })
  for (const [name, value] of others) point.append(name, String(value))
  const address = `GET ${BASE}/advisory${path}/point?${point}`
  const message = query.place
    ? `place must stand alone: for a position send ${address}`
    : `place is required: for a position send ${address}`
  throw new ApiError('INVALID_PARAMETERS', `${message}.`, [{ field: 'place', message }])
}

interface Parts {
  topic: Topic
  places: Places
  options: PlaceOptions
}

/** Finds the place of a text, and answers for it as for a point or for a region. */
async function answerPlace(parts: Parts, exchange: Exchange<Call>): Promise<void> {
  const { topic, places, options } = parts
  const { request } = exchange
  const { format: named, place: text, level, ...asked } = request.query
  const format = takeFormat(request, asked, named)
  const context = { products: topic.products, asked, keepsName: true }
  try {
    const place = await places.findPlace(text, { country_code: asked.country_code, level }, exchange)
    const described = describePlace(text, place)
    if (place.kind === 'position') {
      const point = { ...asked, lat: place.lat, lng: place.lng }
      await fillPlace(point, parts, exchange)
      options.points.respond(exchange, { topic, point, format, place: described })
    } else {
      const answer = await adviseOnPlace(parts, place, asked, exchange)
      const members = { place: described, ...ignoredMember(request) }
      sendAnswer(exchange, format, context, answer.withMembers(members))
    }
  } catch (error) {
    sendAnswer(exchange, format, context, error as Error)
  }
}

async function adviseOnPlace(
  { topic, options }: Parts,
  place: Exclude<Place, { kind: 'position' }>,
  asked: Omit<PointRequest, 'lat' | 'lng'>,
  exchange: Exchange,
): Promise<Answer> {
  refusePixelMembers(exchange.request)
  const where = place.kind === 'area' ? place.area : createOutline(place.polygons)
  const name = asked.name ?? (place.kind === 'field' ? place.name : undefined)
  const country = place.kind === 'area' ? { country_code: place.area.countryCode } : {}
  const question = { ...topic, where, asked: { ...asked, ...(name && { name }), ...country } }
  const { answer } = await adviseOnRegion(options, question, exchange)
  return topic.hasSections ? inFormOfPoint(answer, topic.products) : answer
}

/** An answer for all products has the form of that at a point: the location and the values alone. */
function inFormOfPoint(answer: Answer, products: readonly ProductDefinition[]): Answer {
  const body = answer.describe()
  const { name, lat, lng, type } = body.location as Record<string, unknown>
  const sections = products.map((product) => {
    const { code, entries, value } = product
    const section = body[code] as Record<string, object[] | null>
    const statistics = new Set(listStatisticKeys(product).filter((key) => key !== value.key))
    const means = section[entries]?.map((entry) =>
      Object.fromEntries(Object.entries(entry).filter(([key]) => !statistics.has(key))),
    )
    return [code, { ...section, [entries]: means ?? null }]
  })
  const plain = { ...body, location: { name, lat, lng, type }, ...Object.fromEntries(sections) }
  return answerFrom(plain, answer.releases)
}

/** Fills in the country of a position without one, and its crop where a product has crops. */
async function fillPlace(
  point: PointRequest & LocatableRequest,
  { topic, options: { lookup } }: Parts,
  exchange: Exchange,
): Promise<void> {
  const { crop, release } = point
  if (release !== undefined) return
  await exchange.wait(async () => {
    await lookup.places.fill(point, positionOf(point))
    await lookup.places.fillCrop(point)
  })
  if (crop === undefined && !topic.products.some(({ seasonal }) => seasonal)) delete point.crop
}

function describePlace(asked: string, place: Place): object {
  const { kind } = place
  if (kind !== 'area') {
    return { asked, found: kind === 'field' ? place.name : `${place.lat}, ${place.lng}`, kind, near: false }
  }
  const { name, match, code, countryCode, level } = place.area
  return { asked, found: name, kind, near: match !== 'exact', code, country_code: countryCode, level }
}
