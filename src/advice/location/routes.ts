import type { FastifyRequest } from 'fastify'
import { ref } from '#schemas/common.ts'
import { defineLocationSchemas, LocationRequest, type LocationValidation } from '#schemas/location.ts'
import { asQuery } from '#schemas/point-request.ts'
import { type App, errorResponses } from '#src/http/app.ts'
import { clientKeyOf } from '#src/http/exchange.ts'
import { mergeQueryIntoBody } from '#src/http/parameters.ts'
import { sendAtEnd } from '#src/http/request.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import { createLocationValidator } from './validation.ts'

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
}
