import type { FastifyReply, FastifyRequest } from 'fastify'
import type { PointRequest } from '#schemas/point-request.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { ApiError } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { withTimeout } from '#src/http/plugins/time-budget.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import type { LocatableRequest } from '#src/lookup/places.ts'
import { positionOf } from '#src/lookup/releases.ts'
import { createPlaces, UnknownPlace } from '../location/place.ts'

/** Passes the validation until the place is found. */
const ANYWHERE = '0'

/**
 * Gives a query with a place the position that its schema requires.
 *
 * @throws {ApiError} INVALID_PARAMETERS for a query with both
 */
export function standInForPlace(request: FastifyRequest): void {
  const query = request.query as Record<string, unknown>
  if (query.place === undefined || query.place === '') return
  const sent = ['lat', 'lng'].filter((name) => query[name] !== undefined)
  if (sent.length > 0) {
    const message = 'exactly one of place, and lat with lng, must be sent'
    const details = ['place', ...sent].map((field) => ({ field, message }))
    throw new ApiError('INVALID_PARAMETERS', 'Send either place, or lat and lng.', details)
  }
  query.lat = ANYWHERE
  query.lng = ANYWHERE
}

interface PlacedRequest {
  point: PointRequest
  source: { products: readonly ProductDefinition[] }
  request: FastifyRequest
  reply: FastifyReply
}

export type TakePlace = (text: string, placed: PlacedRequest) => Promise<void>

/**
 * Makes the function that completes a request with its place: position and name, and country and crop where they are
 * left out.
 */
export function createPlaceTaker(app: App, lookup: Lookup): TakePlace {
  const places = createPlaces(app, lookup)

  return async (text, { point, source, request, reply }) => {
    const { country_code } = point
    const found = await places.findPlace(text, { country_code }, { request, reply })
    if (!('place' in found)) throw new UnknownPlace(found, 'place')
    const { lat, lng, name, area } = found.place
    Object.assign(point, { lat, lng })
    if (name !== null) point.name ??= name
    if (point.release !== undefined) return
    const { crop } = point
    const located: LocatableRequest = point
    if (area && country_code === undefined) {
      Object.assign(located, { country_code: area.countryCode, country_source: 'place' })
    }
    await withTimeout(request, reply, async () => {
      await lookup.places.fill(located, positionOf(point))
      await lookup.places.fillCrop(located)
    })
    if (crop === undefined && !source.products.some(({ seasonal }) => seasonal)) delete point.crop
  }
}
