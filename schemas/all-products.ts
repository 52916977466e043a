import { type TObject, type TSchema, Type } from 'typebox'
import {
  dataOrReason,
  exampleMembers,
  HistoryId,
  Location,
  type PointSchemas,
  releaseMembers,
} from './advisory.ts'
import { ref } from './common.ts'
import { CountrySource, Ignored } from './ignored.ts'
import { componentOf, ofSeasonless, type ProductContract } from './product.ts'
import { ProvenanceMember } from './provenance.ts'

/** What a product has to say at a point, or why it has nothing. */
function sectionOf(point: PointSchemas): TObject {
  const { product } = point
  return Type.Object(dataOrReason(point), {
    $id: `${componentOf(product)}Section`,
    description: `The answer of \`POST /advisory/${product.code}/point\`, or \`error\` and \`code\`.`,
  })
}

/** A place in a country that offers no crop. */
const PASTURE = { name: 'My pasture', lat: -1, lng: 36.5, type: 'point' }

/** What the products say there. */
function exampleOf(products: readonly ProductContract[]): object {
  const only = ofSeasonless(products, (names) => `; it has ${names} only`)
  const reason = { error: `The crop is not available for Kenya${only}.`, code: 'CROP_NOT_AVAILABLE' }
  const sections = products.map((product) => {
    const { code, seasonal, entries, examples } = product
    const section = seasonal
      ? { [entries]: null, ...reason }
      : { ...exampleMembers(product), [entries]: examples.withoutCrop ?? examples.point }
    return [code, section]
  })
  return { location: PASTURE, country_code: 'ken', crop: null, ...Object.fromEntries(sections) }
}

export interface AllProductsSchemas {
  response: TObject
  /** In the order of the document. */
  components: TSchema[]
}

/** The answer for all products in one call: a section for each, under its code. */
export function allProductsSchemasOf(points: readonly PointSchemas[]): AllProductsSchemas {
  const products = points.map(({ product }) => product)
  const sections = points.map(sectionOf)
  const { country_code, crop } = releaseMembers({ seasonal: false }) as Record<
    'country_code' | 'crop',
    TSchema
  >
  const response = Type.Object(
    {
      location: ref(Location),
      country_code,
      crop,
      country_source: CountrySource,
      ...Object.fromEntries(sections.map((section, index) => [products[index]?.code, ref(section)])),
      provenance: ProvenanceMember,
      history_id: Type.Optional(HistoryId),
      ignored: Ignored,
    },
    { $id: 'EverythingResponse', examples: [exampleOf(products)] },
  )
  return { response, components: [...sections, response] }
}

/** What is said of a product where the request names releases, and none of it. */
export function reasonOfUnnamed({ names }: ProductContract) {
  return { error: `The request names releases, and none of ${names.values}.`, code: 'NO_RELEASE' } as const
}
