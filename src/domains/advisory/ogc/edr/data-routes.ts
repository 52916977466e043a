import type { FastifyRequest } from 'fastify'
import { ApiError } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { untilGone } from '#src/http/deadline.ts'
import { partyOf } from '#src/http/party.ts'
import { inTime } from '#src/http/plugins/patience.ts'
import type { Lookup } from '../../lookup/lookup.ts'
import type { Position } from '../../lookup/queries.ts'
import type { Figures, RegionFigures } from '../../lookup/region-figures.ts'
import { whileThere } from '../../lookup/while-there.ts'
import { openRoute, rootOf } from '../answers.ts'
import { parametersOf } from '../parameters.ts'
import type { Located } from './coverage-json.ts'
import { DATA_PARAMETERS, dataRequestOf, isDataCached, sendData } from './data-answer.ts'
import { EDR_PATH, noCollection, type Releases } from './releases.ts'
import { readWkt } from './wkt.ts'

type Call = FastifyRequest<{ Params: { collection: string } }>

/** So many points are answered at once; `POST /advisory/{product}/points` takes more. */
const MOST_POINTS = 100

/** So many polygons of one request are computed, one after the other. */
const MOST_POLYGONS = 10

export function positionRoute(app: App, releases: Releases, lookup: Lookup): void {
  app.get(`${EDR_PATH}/collections/:collection/position`, openRoute(), async (request: Call, reply) => {
    const query = parametersOf(request, [...DATA_PARAMETERS, 'coords'])
    const positions = positionsOf(query.coords)
    const collection = await releases.named(request, reply, request.params.collection)
    const data = dataRequestOf(request, reply, query, collection)
    if (isDataCached(request, reply, data)) return reply.code(304).send()

    const party = partyOf(request)
    const { code } = collection.release
    const found = await inTime(request, reply, () =>
      lookup.inSnapshotQueued(party, async (snapshot) => {
        const release = snapshot.published.find((one) => one.code === code)
        if (!release) throw noCollection(code)
        await app.turns.next(party, untilGone(reply))
        const values = await lookup.valuesAt(release, positions, party)
        // One point is told why it has no value; of several, each that has none is answered so.
        if (positions.length > 1 || values[0]) return values
        throw await lookup.reasons.noValue(snapshot, release, positions[0] as Position, 'point', party)
      }),
    )
    await app.turns.next(party, untilGone(reply))
    const located = positions.map(({ longitude, latitude }, at): Located => {
      const values = found[at] ?? collection.parameters.map(() => Number.NaN)
      return {
        place: { type: 'Point', coordinates: [longitude, latitude] },
        values: Array.from(values, (value) => (Number.isNaN(value) ? null : value)),
      }
    })
    const [{ longitude, latitude }] = positions as [Position]
    const label =
      positions.length === 1 ? `Longitude ${longitude}, latitude ${latitude}` : `${positions.length} points`
    return sendData(reply, data, located, { label, endpoint: endpointOf(request, 'position') })
  })
}

/** @throws {ApiError} INVALID_PARAMETERS where they are no points of the earth, or too many */
function positionsOf(coords: string | undefined): Position[] {
  const { type, coordinates } = readWkt('coords', coords, ['POINT', 'MULTIPOINT'])
  const points = (type === 'Point' ? [coordinates] : coordinates) as [number, number][]
  if (points.length > MOST_POINTS) throw ApiError.invalid('coords', `may have ${MOST_POINTS} points`)
  return points.map(positionOf)
}

function positionOf([longitude, latitude]: [number, number]): Position {
  if (Math.abs(longitude) <= 180 && Math.abs(latitude) <= 90) return { longitude, latitude }
  throw ApiError.invalid('coords', 'must have a longitude from -180 to 180, then a latitude from -90 to 90')
}

export function areaRoute(app: App, releases: Releases, figures: RegionFigures): void {
  app.get(`${EDR_PATH}/collections/:collection/area`, openRoute(), async (request: Call, reply) => {
    const query = parametersOf(request, [...DATA_PARAMETERS, 'coords'])
    const { type, coordinates } = readWkt('coords', query.coords, ['POLYGON', 'MULTIPOLYGON'])
    const polygons = (type === 'Polygon' ? [coordinates] : coordinates) as unknown[]
    if (polygons.length > MOST_POLYGONS) {
      throw ApiError.invalid('coords', `must have ${MOST_POLYGONS} polygons or fewer`)
    }
    const collection = await releases.named(request, reply, request.params.collection)
    const data = dataRequestOf(request, reply, query, collection)
    if (isDataCached(request, reply, data)) return reply.code(304).send()

    const { release } = collection
    const located: Located[] = []
    for (const rings of polygons) {
      const place = { type: 'Polygon', coordinates: rings } as const
      const sent = { value: place, at: 'coords' }
      const found = await whileThere(() => figures.inPolygon(release, sent, request, reply))
      located.push({ place, values: meansIn(found, release.layers.length) })
    }
    return sendData(reply, data, located, { label: 'Area', endpoint: endpointOf(request, 'area') })
  })
}

/** The means of layers, each of which has its mean first. */
export function meansIn(figures: Figures, layers: number): (number | null)[] {
  const columns = figures.length / layers
  return Array.from({ length: layers }, (_, layer) => figures[layer * columns] ?? null)
}

export function endpointOf(request: Call, query: string): string {
  return `${rootOf(request)}${EDR_PATH}/collections/${request.params.collection}/${query}`
}
