import type { TObject } from 'typebox'
import { HistoryHeader, type PointSchemas, ReleaseHeader } from '#schemas/advisory.ts'
import { ref } from '#schemas/common.ts'
import { PointRemainder, PointRequest, ShortText, withFormat } from '#schemas/point-request.ts'
import { ALL_PRODUCTS, listOf, ofSeasonless } from '#schemas/product.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { type ErrorCode, NO_VALUE_ERRORS } from '#src/errors.ts'
import { OPTIONAL_TOKEN } from '#src/http/plugins/openapi.ts'
import type { ReadRules } from '../quantities/rules.ts'
import { allProductsAnswerer } from './all-products.ts'
import { type PointAnswerer, productAnswerer } from './answer.ts'

/** A point endpoint: what its operation takes and answers, and how it reads. */
export interface PointEndpoint extends PointAnswerer {
  path: string
  /** Begins the ids of its operations. */
  name: string
  /** What the history takes it for. */
  recorded: Pick<ProductDefinition, 'code' | 'seasonal'>
  /** The products that it answers with. */
  products: readonly ProductDefinition[]
  /** Whether a crop that the country does not offer is refused. */
  needsCrop: boolean
  /** Whether a country that is left out is the one that the point lies in, and not the first of the interface. */
  inAnyCountry: boolean
  request: TObject
  /** The same for GET. */
  query: TObject
  /** What is left of it for the body where the query has the rest. */
  remainder: TObject
  response: TObject
  summary: string
  description: string
}

function endpointOf(
  { product, request, remainder, response }: PointSchemas<ProductDefinition>,
  readRules: ReadRules,
): PointEndpoint {
  const { code, names, seasonal, descriptions } = product
  return {
    path: `/${code}/point`,
    name: code,
    recorded: product,
    products: [product],
    needsCrop: seasonal,
    inAnyCountry: false,
    request,
    query: withFormat(request),
    remainder,
    response,
    summary: `${names.title} at a point`,
    description: descriptions.point,
    ...productAnswerer(product, readRules),
  }
}

/**
 * @param response of the endpoint for all products
 * @param readRules reads what requests say of quantities
 */
export function pointEndpointsOf(
  schemas: readonly PointSchemas<ProductDefinition>[],
  response: TObject,
  readRules: ReadRules,
): PointEndpoint[] {
  return [
    ...schemas.map((one) => endpointOf(one, readRules)),
    allProductsEndpoint(
      schemas.map(({ product }) => product),
      response,
      readRules,
    ),
  ]
}

function allProductsEndpoint(
  products: ProductDefinition[],
  response: TObject,
  readRules: ReadRules,
): PointEndpoint {
  const subjects = listOf(products.map(({ names }) => names.subject))
  const plain = ofSeasonless(products, (names, needs) => `: ${names} ${needs} none`)
  return {
    path: '/point',
    name: 'everything',
    recorded: { code: ALL_PRODUCTS, seasonal: products.some(({ seasonal }) => seasonal) },
    products,
    needsCrop: false,
    inAnyCountry: true,
    request: PointRequest,
    query: PointRequest,
    remainder: PointRemainder,
    response,
    summary: 'Everything for a point',
    description: `
${subjects.charAt(0).toUpperCase()}${subjects.slice(1)} in one call: each answer, or null with \`error\` and \`code\`${plain}.

Without \`country_code\` and \`release\`, the country of the point applies (\`country_source\`), and by default its crop. Points in no country get the defaults.

If no product has a value, the answer is a 404 with the most telling reason; \`details\` has the reason of each product.`.trim(),
    ...allProductsAnswerer(products, readRules),
  }
}

/** What is said of an answer that may be a text message. */
const OF_TEXT = {
  'Content-Language': { type: 'string', description: 'The language of a text message.' },
  Vary: { type: 'string', description: 'The request headers that change the answer.' },
}

/** What is said of an answer that is found again. */
export const CITED = {
  type: 'string',
  description:
    'The address of the answer itself (`rel="cite-as"`), where the request names a release: it answers the same as long as the release is there.',
}

/** What the two operations of an endpoint have in common. */
export function commonOf({ needsCrop, response }: PointEndpoint) {
  const errors: ErrorCode[] = [
    'INVALID_PARAMETERS',
    ...(needsCrop ? (['CROP_NOT_AVAILABLE'] as const) : []),
    ...NO_VALUE_ERRORS,
    'RELEASE_GONE',
  ]
  return {
    errors,
    success: {
      description: 'The values at the point.',
      headers: { 'Advisory-Release': ReleaseHeader, 'Advisory-History': HistoryHeader, ...OF_TEXT },
      content: { 'application/json': { schema: ref(response) }, 'text/plain': { schema: ref(ShortText) } },
    },
    config: {
      public: true,
      scope: 'advisory',
      preferences: ['history=none', 'server-timing', 'return=provenance', 'handling=strict'],
      ownTurns: true,
    },
    operation: { tags: ['advisory'], security: OPTIONAL_TOKEN },
  } as const
}

/** The errors of an operation, where that there is no value is said as text as well. */
export function withTextOfReasons(errors: Record<number, object>): Record<number, object> {
  const { content, ...noValue } = errors[404] as { content: object }
  return {
    ...errors,
    404: { ...noValue, headers: OF_TEXT, content: { ...content, 'text/plain': { schema: ref(ShortText) } } },
  }
}
