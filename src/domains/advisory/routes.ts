import type { FastifyReply, FastifyRequest } from 'fastify'
import { type TObject, Type } from 'typebox'
import {
  asQuery,
  FertilizerResponse,
  ForagePointRequest,
  ForageResponse,
  IsfmResponse,
  POINT_DEFAULTS,
  PointRequest,
  YieldResponse,
} from '#schemas/advisory.ts'
import { type Product, ref } from '#schemas/common.ts'
import type { KeepAdvisory } from '#src/domains/history/queries.ts'
import { errorResponses } from '#src/errors.ts'
import type { App } from '#src/plugins/app.ts'
import { OPTIONAL_TOKEN } from '#src/plugins/openapi.ts'
import { mergeQueryIntoBody } from '#src/plugins/parameters.ts'
import { keepForCaller } from './keeping.ts'
import { type PointAdvisor, pointQuery } from './point.ts'
import { entriesOf, monthAndYear, PRODUCT_ANSWERS } from './products.ts'

/** A point endpoint: what its operation takes and answers, and how it reads. */
interface PointEndpoint {
  product: Product
  request: typeof PointRequest | typeof ForagePointRequest
  response: TObject
  summary: string
  description: string
}

const ENDPOINTS: PointEndpoint[] = [
  {
    product: 'yield',
    request: PointRequest,
    response: YieldResponse,
    summary: 'Predicted yield at a point',
    description:
      'The yield that the newest forecast predicts, in kilograms per hectare, one entry a scenario.',
  },
  {
    product: 'fertilizer',
    request: PointRequest,
    response: FertilizerResponse,
    summary: 'Fertilizer rates at a point',
    description:
      'The recommended rates of inorganic fertilizers, in kilograms per hectare, one entry a fertilizer and scenario.',
  },
  {
    product: 'isfm',
    request: PointRequest,
    response: IsfmResponse,
    summary: 'Organic inputs (ISFM) at a point',
    description:
      'The organic inputs that integrated soil fertility management recommends, in metric tons per hectare, one entry an input and scenario.',
  },
  {
    product: 'forage',
    request: ForagePointRequest,
    response: ForageResponse,
    summary: 'Forage suitability at a point',
    description: 'How well forage species suit the place, one entry a species. Needs no crop.',
  },
]

const RULES = `
Send the parameters as a JSON body, as query parameters, or both: they are merged field by field, and the body wins.

The answer holds the values of the pixel that the point lies in, never a neighbour's. Layers without a value there are left out; a 0 is a value. Where there is no value at all, the answer is a 404 whose \`code\` says why.

With a valid token the answer is kept in the caller's history, and has the \`history_id\` that feedback is given to. A token that is not valid is no error: the call is anonymous.`

export function pointRoutes(app: App, advisor: PointAdvisor, keep: KeepAdvisory): void {
  for (const { product, request, response, summary, description } of ENDPOINTS) {
    const seasonal = product !== 'forage'
    app.route({
      method: 'POST',
      url: `/${product}/point`,
      config: { public: true },
      schema: {
        operationId: `${product}AtPoint`,
        summary,
        description: description + RULES,
        tags: ['advisory'],
        security: OPTIONAL_TOKEN,
        queryAlternative: asQuery(request),
        body: ref(request),
        response: {
          200: {
            ...ref(response),
            description: 'The values at the point.',
            headers: { 'Advisory-Release': ReleaseHeader },
          },
          ...errorResponses(
            'INVALID_PARAMETERS',
            'MALFORMED_JSON',
            ...(seasonal ? (['CROP_NOT_AVAILABLE'] as const) : []),
            'NO_RELEASE',
            'OUTSIDE_COUNTRY',
            'NO_DATA',
            'BODY_TOO_LARGE',
            'UNSUPPORTED_MEDIA_TYPE',
          ),
        },
      },
      preValidation: mergeQueryIntoBody(request),
      handler: async (
        call: FastifyRequest<{ Body: PointRequest | ForagePointRequest }>,
        reply: FastifyReply,
      ) => {
        const { body } = call
        const query = pointQuery(product, body)
        const { release, values } = await advisor.advise(query)
        reply.header('advisory-release', release.code)
        const answer = {
          location: { name: body.name ?? POINT_DEFAULTS.name, lat: body.lat, lng: body.lng, type: 'point' },
          ...(release.forecastPeriod && { forecast_period: monthAndYear(release.forecastPeriod) }),
          [PRODUCT_ANSWERS[product].entries]: entriesOf(product, release, values),
        }
        return keepForCaller(keep, call, query, [release.code], answer)
      },
    })
  }
}

export const ReleaseHeader = Type.String({
  description:
    'The release that the answer was computed from, as in `GET /catalog`. One that begins with `synthetic-` is demonstration data, made by a formula.',
})
