import { ExplainOutput, PlaceInput } from '#schemas/agent-tools.ts'
import { ApiError, type ErrorCode } from '#src/errors.ts'
import type { Products } from '#src/products/define.ts'
import type { AdviceBody, AdviceDesk, Asker } from '../../lookup/advice-desk.ts'
import { shortened } from '../drafts.ts'
import { mendingOf } from '../failures.ts'
import type { Origins } from '../origins.ts'
import { placeMeant } from '../place-meant.ts'
import { withSources } from '../sources.ts'
import { defineTool } from '../tool.ts'
import { sectionOf } from '../values.ts'

type Point = Parameters<typeof placeMeant>[1]

/** Why there is no value of a product, and what can be done about it. */
interface Reason {
  code: string
  error: string
}

/** Why products have no value at a point. */
export function explainNoData({ list }: Products, desk: AdviceDesk, origins: Origins) {
  /** What each product says at a point: its release, or the reason for having no value. */
  async function saidAt(point: Point, by: Asker): Promise<Map<string, string | Reason>> {
    try {
      const body = await desk.atPoint(null, await placeMeant(desk, point, by), by)
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
    output: ExplainOutput,
    async run(asked, by) {
      const { country_code, crop, nearest, hint } = await desk.whereIs(asked, by)
      const said = await saidAt(asked, by)
      const draft = (most: number) => ({
        country_code,
        crop,
        products: [...said].map(([product, what]) => {
          if (typeof what === 'string') return { product, available: true, release: what }
          const { code, error } = what
          const mend = mendingOf(code as ErrorCode)
          return { product, available: false, code, error: shortened(error, most), ...(mend && { mend }) }
        }),
        ...(nearest && { nearest }),
        ...(hint && { hint }),
      })
      const releases = [...said.values()].filter((what) => typeof what === 'string')
      return withSources(draft, await origins.ofReleases(releases, by))
    },
  })
}

function reasonIn({ code, message, details = [] }: ApiError, product: string): Reason {
  const own = details.find(({ field }) => field === product)
  return { code: own?.code ?? code, error: own?.message ?? message }
}
