import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { ref } from '#schemas/common.ts'
import { toQuerySchema } from '#schemas/point-request.ts'
import { type App, errorResponses } from '#src/http/app.ts'
import { entityTag } from '#src/http/entity-tags.ts'
import { readQuery } from '#src/http/parameters.ts'
import { allowCaching } from '#src/http/plugins/caching.ts'
import { roundDegrees } from '#src/lib/round.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import { createPlaces, readPosition } from './place.ts'
import { FoundAreas, PlacesQuery, searchSchemas } from './schemas.ts'

const SEARCH =
  'The administrative areas of all levels that a name may mean, for people to choose among: as `place` of points and areas takes them. Without a match, names with a typing error. Coordinates and Open Location Codes have a position instead.'

/** Adds the search of areas by name. */
export function searchRoute(app: App, lookup: Lookup): void {
  for (const schema of searchSchemas) app.addSchema(schema)
  const { searchAreas } = createPlaces(app, lookup)

  app.askedByPages(({ countryCode }) => `/places?name=${countryCode}`)
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
