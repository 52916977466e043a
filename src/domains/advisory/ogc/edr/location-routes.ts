import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { partyOf } from '#src/http/party.ts'
import {
  forbidKeeping,
  formOf,
  GEOJSON_TYPE,
  isCached,
  JSON_TYPE,
  openRoute,
  rootOf,
  selfLinks,
  withQuery,
} from '../answers.ts'
import { DEFAULT_CRS } from '../crs.ts'
import type { AreaLevel } from '../features/area-levels.ts'
import { type InTurn, shapeFormOf } from '../features/area-shapes.ts'
import type { Collection } from '../features/collections.ts'
import type { Finder } from '../features/finder.ts'
import { featuresAt } from '../features/page.ts'
import { limitOf, offsetOf, parametersOf, rectangleOf } from '../parameters.ts'
import { DATA_PARAMETERS, dataRequestOf, isDataCached, sendData } from './data-answer.ts'
import { endpointOf, meansIn } from './data-routes.ts'
import { EDR_PATH, type ReleaseCollection, type Releases } from './releases.ts'

type ListCall = FastifyRequest<{ Params: { collection: string } }>
type Call = FastifyRequest<{ Params: { collection: string; location: string } }>

/** By how many degrees the borders of locations in their list may be off: about a kilometre. */
const OFFSET = 0.01

/** A level of areas, of which each is a location. */
interface Level {
  collection: Collection
  level: AreaLevel
}

/** The areas of the country of a release, from the highest level down. */
async function levelsOf(
  find: Finder,
  { release }: ReleaseCollection,
  request: FastifyRequest,
  reply: FastifyReply,
  inTurn: InTurn,
): Promise<Level[]> {
  const all = await find.collections(request, reply)
  const own = all.filter((one) => one.release?.id === release.id)
  const levels: Level[] = []
  for (const collection of own) levels.push({ collection, level: await find.level(collection, inTurn) })
  return levels
}

/** Names an area: by its code, and where an area of a level above has the same one, by its level and code. */
function idIn(levels: readonly Level[], depth: number, code: string): string {
  const isTaken = levels.slice(0, depth).some(({ level }) => level.placeOf.has(code))
  return isTaken ? `${levels[depth]?.level.loaded.level}:${code}` : code
}

/** The area that is named so. */
function locationIn(levels: readonly Level[], id: string): (Level & { place: number }) | undefined {
  const [, depth, rest] = /^(\d+):(.*)$/s.exec(id) ?? []
  for (const one of levels) {
    const place = one.level.placeOf.get(id)
    if (place !== undefined) return { ...one, place }
  }
  const one = levels.find(({ level }) => String(level.loaded.level) === depth)
  const place = one?.level.placeOf.get(rest ?? '')
  return one && place !== undefined ? { ...one, place } : undefined
}

export function locationsRoute(app: App, releases: Releases, find: Finder): void {
  app.get(`${EDR_PATH}/collections/:collection/locations`, openRoute(), async (request: ListCall, reply) => {
    const query = parametersOf(request, ['f', 'bbox', 'limit', 'offset'])
    const form = formOf(request, reply, query.f, [GEOJSON_TYPE, JSON_TYPE])
    if (form.isHtml) throw ApiError.invalid('f', 'must be json')
    const [limit, offset] = [limitOf(query.limit), offsetOf(query.offset)]
    const rectangle = rectangleOf(query.bbox, DEFAULT_CRS)
    const collection = await releases.named(request, reply, request.params.collection)
    const inTurn: InTurn = (read) => app.inTurn(request, reply, read)
    const levels = await levelsOf(find, collection, request, reply, inTurn)
    const version = levels.map((one) => one.collection.version).join()
    if (isCached(request, reply, form, version)) return reply.code(304).send()

    const pause = () => app.turns.next(partyOf(request))
    const common = { shapes: find.shapes, form: shapeFormOf(DEFAULT_CRS, OFFSET), inTurn, pause }
    const features: string[] = []
    let matched = 0
    let isOver = false
    for (const [depth, { collection: areas, level }] of levels.entries()) {
      const places = await find.places(level, rectangle, inTurn)
      const from = Math.max(0, offset - matched)
      const shown = places.slice(from, from + limit - features.length)
      matched += places.length
      if (isOver || shown.length === 0) continue
      const properties = find.properties({ ...areas, release: null }, level, { request, reply, inTurn })
      const idOf = (code: string) => idIn(levels, depth, code)
      const { isLate, isFull, ...more } = await featuresAt(
        { ...common, level, properties, idOf },
        shown,
        features,
      )
      features.push(...more.features)
      isOver = isLate || isFull
      if (isLate) forbidKeeping(reply)
    }
    const address = `${rootOf(request)}${EDR_PATH}/collections/${collection.release.code}/locations`
    const next = offset + features.length
    const links = [
      ...selfLinks(address, query, form, GEOJSON_TYPE).filter(({ rel }) => rel === 'self'),
      ...(next < matched
        ? [{ href: withQuery(address, { ...query, limit, offset: next }), rel: 'next', type: GEOJSON_TYPE }]
        : []),
    ]
    const counts = { numberMatched: matched, numberReturned: features.length }
    const head = JSON.stringify({ type: 'FeatureCollection', ...counts, links }).slice(0, -1)
    return reply.type(form.type).send(Buffer.from(`${head},"features":[${features.join(',\n')}]}`))
  })
}

export function locationRoute(app: App, releases: Releases, find: Finder): void {
  app.get(
    `${EDR_PATH}/collections/:collection/locations/:location`,
    openRoute(),
    async (request: Call, reply) => {
      const query = parametersOf(request, DATA_PARAMETERS)
      const { collection: code, location } = request.params
      const collection = await releases.named(request, reply, code)
      const data = dataRequestOf(request, reply, query, collection)
      const inTurn: InTurn = (read) => app.inTurn(request, reply, read)
      const levels = await levelsOf(find, collection, request, reply, inTurn)
      const found = locationIn(levels, location)
      const area = found?.level.areas[found.place]
      if (!found || !area) {
        throw new ApiError(
          'NOT_FOUND',
          `There is no location ${location}: \`locations\` lists those that there are.`,
        )
      }
      if (isDataCached(request, reply, data, found.collection.version)) return reply.code(304).send()
      const { release } = collection
      const asking = { request, reply, inTurn }
      const { value: figures } = await find.figures(release, found.level, [found.place], asking).next()
      const values = meansIn(figures ?? [], release.layers.length)
      // Of the whole area, which may be of several parts: a coverage of polygons would have a value for each.
      const place = { type: 'Point', coordinates: [area.longitude, area.latitude] } as const
      return sendData(reply, data, [{ place, values }], {
        label: area.name,
        endpoint: endpointOf(request, 'locations'),
      })
    },
  )
}
