import { PlaceInput } from '#schemas/agent-tools.ts'
import type { LocationValidation } from '#schemas/location.ts'
import { ApiError, type ErrorCode } from '#src/errors.ts'
import type { Products } from '#src/products/define.ts'
import type { AdviceBody, AdviceDesk, Asker } from '../../lookup/advice-desk.ts'
import { shortenedSentence } from '../drafts.ts'
import { mendingOf } from '../failures.ts'
import type { Origins } from '../origins.ts'
import { placeFrom } from '../place-meant.ts'
import { withSources } from '../sources.ts'
import { defineTool } from '../tool.ts'
import { sectionOf } from '../values.ts'

/** Why there is no value of a product, and what can be done about it. */
interface Reason {
  code: string
  error: string
}

/** Why products have no value at a point. */
export function explainNoData({ list }: Products, desk: AdviceDesk, origins: Origins) {
  /** What each product says at a point: its release, or the reason for having no value. */
  async function saidAt(
    asked: PlaceInput,
    found: LocationValidation,
    by: Asker,
  ): Promise<Map<string, string | Reason>> {
    try {
      const body = await desk.atPoint(null, placeFrom(asked, found), by)
      return new Map(
        list.map((product) => {
          const own = body[product.code] as AdviceBody
          return [product.code, sectionOf(product, own)?.release ?? (own as unknown as Reason)]
        }),
      )
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error
      return new Map(list.map(({ code }) => [code, reasonIn(error, code)]))
    }
  }

  return defineTool({
    name: 'explain_no_data',
    title: 'Why there is no value',
    description:
      'Why a product has no value at a point (outside the country, crop not offered, nothing published, no pixel there), and what to do about each. Call it when advise_point has no value for what was wanted. Example: {"lat": -1, "lng": 36.5, "country_code": "eth"}',
    input: PlaceInput,
    async run(asked, by) {
      const found = await desk.whereIs(asked, by)
      const { country_code, crop, nearest, hint } = found
      const said = await saidAt(asked, found, by)
      const available = [...said].flatMap(([product, what]) =>
        typeof what === 'string' ? [{ product, release: what }] : [],
      )
      const draft = (most: number) => ({
        country_code,
        crop,
        available,
        reasons: groupsOf(said).map(({ products, code, error }) => ({
          products,
          code,
          error: shortenedSentence(error, most),
          mend: mendingOf(code as ErrorCode, asked),
        })),
        ...(nearest && { nearest }),
        ...(hint && { hint }),
      })
      return withSources(
        draft,
        await origins.ofReleases(
          available.map(({ release }) => release),
          by,
        ),
      )
    },
  })
}

/** Most products have one reason: it is said once. */
function groupsOf(said: ReadonlyMap<string, string | Reason>): (Reason & { products: string[] })[] {
  const groups = new Map<string, Reason & { products: string[] }>()
  for (const [product, what] of said) {
    if (typeof what === 'string') continue
    const { code, error } = what
    const group = groups.get(error)
    if (group) group.products.push(product)
    else groups.set(error, { products: [product], code, error })
  }
  return [...groups.values()]
}

function reasonIn({ code, message, details = [] }: ApiError, product: string): Reason {
  const own = details.find(({ field }) => field === product)
  return { code: own?.code ?? code, error: own?.message ?? message }
}
