import { Type } from 'typebox'
import { ReleaseHeader } from '#schemas/advisory.ts'
import { ref } from '#schemas/common.ts'
import { asQuery } from '#schemas/point-request.ts'
import { POLYGONS_PARAMETERS } from '#schemas/polygons.ts'
import { productSchema } from '#schemas/product.ts'
import { polygonNoter, type Validator } from '#src/advice/bodies.ts'
import {
  answerMany,
  documentPolygons,
  type ManyExchange,
  type ManyOptions,
} from '#src/advice/polygons/answer.ts'
import { ApiError } from '#src/errors.ts'
import { type App, errorResponses } from '#src/http/app.ts'
import { DISPOSITION } from '#src/http/formats.ts'
import { queryMerger, validationError } from '#src/http/parameters.ts'
import { ADVICE_ON_FIELDS, type CollectionRequest } from './saved.ts'
import { CollectionParams } from './schemas.ts'

/** A collection takes the place of the polygons of a request; all parameters are in the query. */
export function adviceRoute(app: App, options: ManyOptions): void {
  const { list: products } = app.products
  const { schemas, forms } = options
  const codes = products.map(({ code }) => code)
  const Product = { ...productSchema(products, 'The product to answer for.'), examples: codes.slice(0, 1) }
  const note = polygonNoter(app, ['product', ...POLYGONS_PARAMETERS])

  app.route({
    method: 'GET',
    url: '/fields/:collection/advice',
    config: { ...ADVICE_ON_FIELDS, takesOwnPermit: true, preferences: ['handling=strict'] },
    schema: {
      operationId: 'getAdviceOnFields',
      summary: 'Advice on all fields of a collection',
      description:
        'The answer of `POST /advisory/{product}/polygons` for the fields of a collection, each with its id. The parameters are those of that operation, in the query; a data value set of DHIS2 takes its body.',
      tags: ['fields'],
      params: CollectionParams,
      queryAlternative: Type.Object({
        product: Product,
        ...asQuery((schemas[0] as (typeof schemas)[number]).parameters).properties,
      }),
      response: {
        200: {
          description: 'An answer for each field.',
          headers: { 'Advisory-Release': ReleaseHeader, 'Content-Disposition': DISPOSITION },
          content: documentPolygons(forms, Type.Union(schemas.map(({ response }) => ref(response)))),
        },
        ...errorResponses(
          'INVALID_PARAMETERS',
          'CROP_NOT_AVAILABLE',
          'NOT_FOUND',
          'NO_RELEASE',
          'RELEASE_GONE',
          'NOT_ACCEPTABLE',
        ),
      },
    },
    handler: async (request: CollectionRequest) => {
      const { product: code, ...query } = request.query as Record<string, unknown>
      const found = schemas.find(({ product }) => product.code === code)
      if (!found) throw ApiError.invalid('product', `must be one of ${codes.join(', ')}`, codes)
      note(request)
      request.query = query
      request.body = undefined
      queryMerger(found.request)(request)
      const body = { ...(request.body as object | undefined), fields: request.params.collection }
      const validate = request.compileValidationSchema(found.request) as Validator
      if (!validate(body)) throw validationError(validate.errors ?? [], body)
      request.body = body
      return answerMany(options, found.product, request.exchange as ManyExchange, () => {})
    },
  })
}
