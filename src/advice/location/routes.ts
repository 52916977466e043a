import type { FastifyRequest } from 'fastify'
import { ref } from '#schemas/common.ts'
import { defineLocationSchemas, LocationRemainder, LocationRequest } from '#schemas/location.ts'
import { asQuery } from '#schemas/point-request.ts'
import { BODY_ERRORS, errorResponses } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { mergeQueryIntoBody } from '#src/http/parameters.ts'
import { withTimeout } from '#src/http/plugins/time-budget.ts'
import { clientKeyOf } from '#src/http/request.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import { createLocationValidator } from './validator.ts'

const DESCRIPTION = `
The country and the administrative areas of a point, and the products with a value there, or the reasons without.

A point on a border lies in the area of lowest code. A country code that does not match is not an error: \`valid\` is false then, and the answer says where the point lies instead.

Send the parameters as a JSON body, as query parameters, or both: they are merged field by field, and the body wins.`

/** The country and the areas of a point, and its products. */
export async function location(app: App, { lookup }: { lookup: Lookup }): Promise<void> {
  const { validation, components } = defineLocationSchemas(app.products.list)
  for (const schema of components) app.addSchema(schema)
  const validate = createLocationValidator(app.database.reader, lookup, app.products.list)

  app.post(
    '/validate_location',
    {
      config: { scope: 'advisory', ownTurns: true },
      schema: {
        operationId: 'validateLocation',
        summary: 'The country and areas of a point, and its products',
        description: DESCRIPTION.trim(),
        tags: ['places'],
        queryAlternative: asQuery(LocationRequest),
        body: ref(LocationRequest),
        bodyRemainder: ref(LocationRemainder),
        response: {
          200: { ...ref(validation), description: 'The facts about the point.' },
          ...errorResponses('UNAUTHORIZED', 'INSUFFICIENT_SCOPE', 'INVALID_PARAMETERS', ...BODY_ERRORS),
        },
      },
      preValidation: mergeQueryIntoBody(LocationRequest),
    },
    (request: FastifyRequest<{ Body: LocationRequest }>, reply) =>
      withTimeout(request, reply, () => validate(request.body, clientKeyOf(request))),
  )
}
