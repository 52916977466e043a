import { codesOfProducts, pointInputOf } from '#schemas/agent-tools.ts'
import type { ProductDefinition, Products } from '#src/products/define.ts'
import type { AdviceBody, AdviceDesk } from '../../lookup/advice-desk.ts'
import { leftOut, shortenedSentence } from '../drafts.ts'
import type { Origins } from '../origins.ts'
import { placeMeant } from '../place-meant.ts'
import { withSources } from '../sources.ts'
import { defineTool } from '../tool.ts'
import { inOrder, releaseOf, sectionOf, valuesOf } from '../values.ts'

/** What the releases say of a point. */
export function advisePoint({ list, of }: Products, desk: AdviceDesk, origins: Origins) {
  return defineTool({
    name: 'advise_point',
    title: 'Advice for a point',
    description:
      'What is published for one place: predicted yield (kg/ha), fertilizer rates (kg/ha), organic inputs (t/ha), forage suitability (score, higher is better), by season scenario; 0 is a value. Rates are per hectare: for a field and its bags call quantities. A product without a value says why in code and error: never make one up. Example: {"lat": 9.5, "lng": 38.5}',
    input: pointInputOf(codesOfProducts(list)),
    async run({ product: code, ...asked }, by) {
      const place = await placeMeant(desk, asked, by)
      const product = code === undefined ? null : of(code)
      const body = await desk.atPoint(product, place, by)
      const found = (product ? [product] : list).map((one) =>
        foundOf(one, product ? body : (body[one.code] as AdviceBody)),
      )
      const releases = found.flatMap(({ section }) => section?.release ?? [])
      const draft = (most: number) => ({
        lat: place.lat,
        lng: place.lng,
        country_code: place.country_code.trim().toLowerCase(),
        crop: place.crop ?? null,
        products: found.map((one) => saidOf(one, most)),
        ...leftOut(most, ...found.map(({ section }) => section?.entries.length ?? 0)),
      })
      return withSources(draft, await origins.ofReleases(releases, by))
    },
  })
}

interface Found {
  product: ProductDefinition
  section: ReturnType<typeof sectionOf>
  body: AdviceBody
}

function foundOf(product: ProductDefinition, body: AdviceBody): Found {
  return { product, section: sectionOf(product, body), body }
}

function saidOf({ product, section, body }: Found, most: number): object {
  if (!section)
    return { product: product.code, code: body.code, error: shortenedSentence(String(body.error), most) }
  const entries = inOrder(product, section.entries).slice(0, most)
  return {
    product: product.code,
    unit: product.unit,
    values: valuesOf(product, entries),
    ...releaseOf(section),
  }
}
