import type { TObject } from 'typebox'
import {
  FertilizerResponse,
  ForagePointRequest,
  ForageResponse,
  IsfmResponse,
  PointRequest,
  YieldResponse,
} from '#schemas/advisory.ts'
import { AllProductsResponse } from '#schemas/all-products.ts'
import { PRODUCTS, type Product } from '#schemas/common.ts'
import { allProductsAnswerer } from './all-products.ts'
import { type PointAnswerer, productAnswerer } from './answer.ts'

/** A point endpoint: what its operation takes and answers, and how it reads. */
export interface PointEndpoint extends PointAnswerer {
  path: string
  /** Begins the ids of its operations. */
  name: string
  product: Product | 'all'
  /** The products that it answers with. */
  products: readonly Product[]
  request: typeof PointRequest | typeof ForagePointRequest
  response: TObject
  summary: string
  description: string
}

const NO_VALUE = `

The answer holds the values of the pixel that the point lies in, never a neighbour's. Layers without a value there are left out; a 0 is a value. Where there is no value at all, the answer is a 404 whose \`code\` says why.`

function endpointOf(
  product: Product,
  { description, ...rest }: Pick<PointEndpoint, 'request' | 'response' | 'summary' | 'description'>,
): PointEndpoint {
  return {
    path: `/${product}/point`,
    name: product,
    product,
    products: [product],
    description: description + NO_VALUE,
    ...rest,
    ...productAnswerer(product),
  }
}

export const POINT_ENDPOINTS: PointEndpoint[] = [
  endpointOf('yield', {
    request: PointRequest,
    response: YieldResponse,
    summary: 'Predicted yield at a point',
    description:
      'The yield that the newest forecast predicts, in kilograms per hectare, one entry a scenario.',
  }),
  endpointOf('fertilizer', {
    request: PointRequest,
    response: FertilizerResponse,
    summary: 'Fertilizer rates at a point',
    description:
      'The recommended rates of inorganic fertilizers, in kilograms per hectare, one entry a fertilizer and scenario.',
  }),
  endpointOf('isfm', {
    request: PointRequest,
    response: IsfmResponse,
    summary: 'Organic inputs (ISFM) at a point',
    description:
      'The organic inputs that integrated soil fertility management recommends, in metric tons per hectare, one entry an input and scenario.',
  }),
  endpointOf('forage', {
    request: ForagePointRequest,
    response: ForageResponse,
    summary: 'Forage suitability at a point',
    description: 'How well forage species suit the place, one entry a species. Needs no crop.',
  }),
  {
    path: '/point',
    name: 'everything',
    product: 'all',
    products: PRODUCTS,
    request: PointRequest,
    response: AllProductsResponse,
    summary: 'Everything for a point',
    description: `
Yield, fertilizer, organic inputs and forage in one call: each what its own endpoint answers, with the release that it comes from, or, where that has no answer, null and the \`error\` and \`code\` that say why. So does a crop that the country does not offer: forage needs none.

Where none of them has a value, the answer is a 404 with the reason that says most about the place, and each product's own in \`details\`.`.trim(),
    ...allProductsAnswerer,
  },
]
