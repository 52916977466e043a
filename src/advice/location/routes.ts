import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { FoundAreas, PlacesQuery, placesSchemas } from '#schemas/areas.ts'
import { ref } from '#schemas/common.ts'
import { defineLocationSchemas, LocationRequest, type LocationValidation } from '#schemas/location.ts'
import { asQuery, toQuerySchema } from '#schemas/point-request.ts'
import { createPlaces, readPosition } from '#src/extensions/places/place.ts'
import { type App, errorResponses } from '#src/http/app.ts'
import { entityTag } from '#src/http/entity-tags.ts'
import { clientKeyOf } from '#src/http/exchange.ts'
import { mergeQueryIntoBody, readQuery } from '#src/http/parameters.ts'
import { allowCaching } from '#src/http/plugins/caching.ts'
import { sendAtEnd } from '#src/http/request.ts'
import { roundDegrees } from '#src/lib/round.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import { createLocationValidator } from './validation.ts'

const SEARCH =
  'The administrative areas of all levels that a name may mean, for people to choose among: as `place` of points and areas takes them. Without a match, names with a typing error. Coordinates and Open Location Codes have a position instead.'

/** Adds the search of areas by name. */
function searchRoute(app: App, lookup: Lookup): void {
  for (const schema of placesSchemas) app.addSchema(schema)
  const { searchAreas } = createPlaces(app, lookup)

  app.get(
    '/places',
    {
      config: { public: true, caching: 'own', takesOwnPermit: true, onlyReads: true },
      schema: {
        operationId: 'searchPlaces',
        summary: 'Find areas by name',
        description: SEARCH,
        tags: ['places'],
        querystring: toQuerySchema(PlacesQuery),
        response: {
          200: { ...ref(FoundAreas), description: 'The areas; none is an empty list.' },
          304: { type: 'null', description: 'The areas are those that `If-None-Match` names.' },
          ...errorResponses('INVALID_PARAMETERS'),
        },
      },
      preValidation: readQuery(PlacesQuery),
    },
    async (request: FastifyRequest<{ Querystring: Static<typeof PlacesQuery> }>, reply: FastifyReply) => {
      const { name, limit, ...options } = request.query
      const position = readPosition(name, 'name') ?? null
      const { areas, similar } = position
        ? { areas: [], similar: [] }
        : await searchAreas(name, options, request.exchange)
      const isNear = areas.length === 0 && similar.length > 0
      const items = (isNear ? similar : areas)
        .slice(0, limit)
        .map(({ countryCode, level, code, name, parent, lat, lng }) => ({
          country_code: countryCode,
          level,
          code,
          name,
          parent,
          lat: roundDegrees(lat),
          lng: roundDegrees(lng),
        }))
      const found: FoundAreas = { items, is_near: isNear, position }
      if (allowCaching(request.exchange, entityTag(JSON.stringify(found)))) return reply.code(304).send()
      return found
    },
  )
}

const VALIDATION = `
The country and the administrative areas of a point, and the products with a value there, or the reasons without.

A point on a border lies in the area of lowest code. A country code that does not match is not an error: \`valid\` is false then, and the answer says where the point lies instead. The query may have them too.`

export async function location(app: App, { lookup }: { lookup: Lookup }): Promise<void> {
  const { validation, components } = defineLocationSchemas(app.products.list)
  for (const schema of components) app.addSchema(schema)
  const { fromMemory, fromDatabase } = createLocationValidator(app.database.reader, lookup, app.products.list)

  app.post(
    '/validate_location',
    {
      config: { scope: 'advisory', takesOwnPermit: true },
      schema: {
        operationId: 'validateLocation',
        summary: 'The country and areas of a point, and its products',
        description: VALIDATION.trim(),
        tags: ['places'],
        queryAlternative: asQuery(LocationRequest),
        body: ref(LocationRequest),
        response: {
          200: { ...ref(validation), description: 'The facts about the point.' },
          ...errorResponses('INVALID_PARAMETERS'),
        },
      },
      preValidation: mergeQueryIntoBody(LocationRequest),
    },
    (request: FastifyRequest<{ Body: LocationRequest }>, reply): Promise<LocationValidation> | undefined => {
      const found = fromMemory(request.body)
      if (found === undefined) {
        return request.exchange.wait(() => fromDatabase(request.body, clientKeyOf(request)))
      }
      sendAtEnd(reply, () => reply.send(found))
      return undefined
    },
  )
  searchRoute(app, lookup)
}
