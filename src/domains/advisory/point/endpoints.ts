import type { TObject } from 'typebox'
import type { PointSchemas } from '#schemas/advisory.ts'
import { PointRemainder, PointRequest, withFormat } from '#schemas/point-request.ts'
import { ALL_PRODUCTS, listOf, ofSeasonless } from '#schemas/product.ts'
import type { ProductDefinition } from '#src/products/define.ts'
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
${subjects.charAt(0).toUpperCase()}${subjects.slice(1)} in one call. Each product has the answer of its own endpoint, or null with \`error\` and \`code\`, as for a crop that the country does not offer${plain}.

Without \`country_code\` and \`release\`, the country of the point applies, by its outline (\`country_source\`), and by default its crop. Points outside of all countries get the defaults.

If no product has a value, the answer is a 404 with the most telling reason; \`details\` has the reason of each product.`.trim(),
    ...allProductsAnswerer(products, readRules),
  }
}
