import { type TObject, type TSchema, Type } from 'typebox'
import { Location, releaseMembers } from './advisory.ts'
import { ref } from './common.ts'
import { CountrySource } from './ignored.ts'
import { ALL_PRODUCTS, componentOf, type ProductContract } from './product.ts'
import { ProvenanceMember } from './provenance.ts'

/** A component of which only the name is known here. */
const named = ($id: string) => ref(Type.Unknown({ $id }))

/**
 * What an item of the history is, by its product: its request and its answer are those of the product's
 * operations. Only documented by this: what is kept is given back as it was.
 *
 * @param item what all of them have
 */
export function historyItemsOf(products: readonly ProductContract[], item: TObject) {
  const variants: [code: string, variant: TSchema][] = [
    ...products.map((product): [string, TSchema] => [product.code, itemOf(product, item)]),
    [ALL_PRODUCTS, itemOfAll(products, item)],
  ]
  const components = variants.map(([, variant]) => variant)
  const { description, examples } = item as TObject & Described
  const documented = Type.Unsafe({
    type: 'object',
    oneOf: components.map((variant) => ref(variant)),
    discriminator: {
      propertyName: 'product',
      mapping: Object.fromEntries(variants.map(([code, { $id }]: [string, Named]) => [code, `${$id}#`])),
    },
    description,
    examples,
  })
  return { documented, components }
}

interface Named {
  $id?: string
}

interface Described {
  description: string
  examples: unknown[]
}

function itemOf(product: ProductContract, item: TObject) {
  const component = componentOf(product)
  const requests = product.seasonal ? '' : component
  return variantOf(item, component, product.code, {
    request: Type.Union([named(`${requests}PointRequest`), named(`${requests}PolygonRequest`)]),
    answer: answerOf(product, item),
  })
}

/** Answers that are older than a member of the release lack it. */
function answerOf(product: ProductContract, { properties }: TObject): TSchema {
  const component = componentOf(product)
  const release = Object.entries(releaseMembers(product))
  return Type.Object({
    location: properties.location as TSchema,
    ...Object.fromEntries(release.map(([name, schema]) => [name, Type.Optional(schema)])),
    [product.entries]: Type.Array(
      Type.Union([named(`Polygon${component}Entry`), named(`${component}Entry`)]),
    ),
  })
}

/** Answers that are older than what says the country lack that. */
function itemOfAll(products: readonly ProductContract[], item: TObject) {
  const { country_code, crop } = releaseMembers({ seasonal: false })
  return variantOf(item, 'Everything', ALL_PRODUCTS, {
    request: named('PointRequest'),
    answer: Type.Object({
      location: ref(Location),
      country_code: Type.Optional(country_code as TSchema),
      crop: Type.Optional(crop as TSchema),
      country_source: CountrySource,
      ...Object.fromEntries(
        products.map((product) => [product.code, named(`${componentOf(product)}Section`)]),
      ),
      provenance: ProvenanceMember,
    }),
  })
}

function variantOf(
  { properties }: TObject,
  component: string,
  code: string,
  { request, answer }: { request: TSchema; answer: TSchema },
) {
  const describedAs = (name: string, schema: TSchema): TSchema => ({
    ...schema,
    description: (properties[name] as { description: string }).description,
  })
  return Type.Object(
    {
      ...properties,
      product: Type.Literal(code),
      request: describedAs('request', request),
      answer: describedAs('answer', answer),
    },
    { $id: `${component}HistoryItem` },
  )
}
