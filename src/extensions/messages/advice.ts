import type { ProductDefinition } from '#schemas/products/define.ts'
import { answerPoint } from '#src/advice/point/advise.ts'
import { ApiError } from '#src/errors.ts'
import { adviseOnRegion, type RegionParts } from '#src/extensions/places/advise.ts'
import type { App } from '#src/http/app.ts'
import type { Exchange } from '#src/http/exchange.ts'
import { positionOf } from '#src/lookup/releases.ts'
import type { Advised } from './conversation.ts'
import type { Question } from './grammar.ts'

/**
 * Answers for a position as `/advisory/point`, for an area as `/advisory?place=`.
 *
 * @throws {ApiError} the reason for no value
 */
export async function advise(
  parts: RegionParts & { app: App },
  { subject, place, area: size, condition }: Question,
  exchange: Exchange,
): Promise<Advised> {
  const { lookup, readRules } = parts
  const { crop, input } = subject
  const products = subject.products.map(parts.app.products.of)
  const topic = { products, hasSections: true, readRules }
  const asked = { ...(crop && { crop }), ...(size && { area: size }), ...(condition && { condition }) }

  async function adviseAtPoint() {
    const point = { lat: place.lat, lng: place.lng, ...asked }
    const position = positionOf(point)
    if (!lookup.places.fillFromMemory(point, position)) {
      await exchange.wait(() => lookup.places.fill(point, position))
    }
    return { products, answer: await answerPoint(lookup, topic, point, exchange) }
  }

  const { area: where } = place
  const question = where && { ...topic, where, asked: { country_code: where.countryCode, ...asked } }
  const { products: answered, answer } = await (question
    ? adviseOnRegion(parts, question, exchange)
    : adviseAtPoint())
  const advised = { products: answered, body: answer.describe(), releases: [...answer.releases] }
  return input === undefined ? advised : withInput(advised, input)
}

/** The entries of one input. @throws {ApiError} NO_DATA where there is none */
function withInput({ products, body, releases }: Advised, wanted: string): Advised {
  const [product] = products as [ProductDefinition]
  const section = body[product.code] as Record<string, unknown>
  const isWanted = (entry: Record<string, unknown>) => entry[product.input?.key ?? ''] === wanted
  const entries = (section[product.entries] as Record<string, unknown>[]).filter(isWanted)
  if (entries.length === 0) throw new ApiError('NO_DATA')
  return { products, body: { ...body, [product.code]: { ...section, [product.entries]: entries } }, releases }
}
