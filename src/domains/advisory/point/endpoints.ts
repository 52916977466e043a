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
import type { PointAdvice, PointAdvisor } from '../lookup/advisor.ts'
import { type ItemWriter, itemWriter } from '../lookup/item-writer.ts'
import { dataOf, locationOf } from '../lookup/products.ts'
import type { ReleaseLabels } from '../lookup/queries.ts'
import { positionOf, seriesOf } from '../lookup/series.ts'
import { allProductsAt } from './all-products.ts'

/** What is answered to a point request. */
export interface PointAnswer {
  /** The codes of the releases that answered. */
  releases: string[]
  /** Whether the releases have said all of it, and no reasons were needed. */
  complete: boolean
  readonly body: Record<string, unknown>
  /** The body as JSON, where that is written faster than from the body. */
  text?(): string
}

/** A point endpoint: what its operation takes and answers, and how it reads. */
export interface PointEndpoint {
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
  /** At once, without a promise, where all that it takes is in memory. */
  answer(advisor: PointAdvisor, asked: PointRequest): PointAnswer | Promise<PointAnswer>
}

/** The writers of releases that have answered, for as long as the releases are known. */
const WRITERS = new WeakMap<ReleaseLabels, ItemWriter>()

function writerOf(product: Product, release: ReleaseLabels): ItemWriter {
  const known = WRITERS.get(release)
  if (known) return known
  const writer = itemWriter(product, release)
  WRITERS.set(release, writer)
  return writer
}

/** What one release says of a point. */
class ReleaseAnswer implements PointAnswer {
  readonly complete = true
  readonly #product: Product
  readonly #asked: PointRequest
  readonly #advice: PointAdvice

  constructor(product: Product, asked: PointRequest, advice: PointAdvice) {
    this.#product = product
    this.#asked = asked
    this.#advice = advice
  }

  get releases() {
    return [this.#advice.release.code]
  }

  get body() {
    const { release, values } = this.#advice
    return { location: locationOf(this.#asked), ...dataOf(this.#product, release, values) }
  }

  text() {
    const { release, values } = this.#advice
    return writerOf(this.#product, release).answered(this.#asked, values)
  }
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
    answer(advisor, asked) {
      const advice = advisor.advise(seriesOf(product, asked), positionOf(asked))
      return advice instanceof Promise
        ? advice.then((found) => new ReleaseAnswer(product, asked, found))
        : new ReleaseAnswer(product, asked, advice)
    },
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
    answer: allProductsAt,
  },
]
