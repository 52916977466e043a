import { ApiError } from '#src/errors.ts'
import type { ProductDefinition } from '#src/products/define.ts'
import { columnOf } from '../../lookup/products.ts'
import type { PublishedRelease } from '../../lookup/published-release.ts'

/** A layer of a release, as EDR has it. */
export interface ReleaseParameter {
  id: string
  /** The place of its layer in the release. */
  layer: number
  title: string
  unit: string
}

/** The parameters of a release: one a layer. Ids are words that need no escaping. */
export function parametersOfRelease(
  product: ProductDefinition,
  release: PublishedRelease,
): ReleaseParameter[] {
  const taken = new Set<string>()
  return release.layers.map((layer, at) => {
    const word = columnOf(product, layer, product.value.key)
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '_')
    const id = taken.has(word) ? `${word}_${at + 1}` : word
    taken.add(id)
    const labels = [layer.input, layer.scenario].filter((label) => label !== null)
    const title = [product.names.title, ...labels].join(', ')
    return { id, layer: at, title, unit: product.unit }
  })
}

/**
 * The parameters that a request names; all where it names none.
 *
 * @throws {ApiError} INVALID_PARAMETERS where there is no such parameter
 */
export function namedParameters(all: ReleaseParameter[], text: string | undefined): ReleaseParameter[] {
  if (text === undefined) return all
  const names = text.split(',').map((name) => name.trim())
  const ids = all.map(({ id }) => id)
  if (names.some((name) => !ids.includes(name))) {
    throw ApiError.invalid('parameter-name', `must be some of ${ids.join(', ')}, with commas between`, ids)
  }
  return all.filter(({ id }) => names.includes(id))
}

/** A parameter as collections describe it. */
export function collectionParameter({ id, title, unit }: ReleaseParameter) {
  return {
    id,
    type: 'Parameter',
    description: title,
    'data-type': 'float',
    unit: { label: unit, symbol: unit },
    observedProperty: { label: title },
  }
}

/** A parameter as CoverageJSON describes it, where texts say their language. */
export function coverageParameter({ title, unit }: ReleaseParameter) {
  return {
    type: 'Parameter',
    description: { en: title },
    unit: { label: { en: unit }, symbol: unit },
    observedProperty: { label: { en: title } },
  }
}
