import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { ApiError } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { withTimeout } from '#src/http/plugins/time-budget.ts'
import { positionOf } from '#src/lookup/releases.ts'
import { adviseOnRegion, type RegionParts } from '../places/advise.ts'
import { answerPoint } from '../point/answer.ts'
import type { Subject } from './grammar.ts'

/** A place that a message has named: an administrative area, or a position. */
export interface AskedPlace {
  name: string | null
  lat: number
  lng: number
  /** Null for a position. */
  area: { countryCode: string; level: number; code: string } | null
}

export interface Question {
  subject: Subject
  place: AskedPlace
  /** Of the field, such as `10 timad`; null for a hectare. */
  area: string | null
  /** The condition of the field, as the last reply has offered it. */
  condition?: string
}

export interface AdviceParts extends RegionParts {
  app: App
}

export interface Advised {
  products: ProductDefinition[]
  /** An answer for all products, with the section of each. */
  body: Record<string, unknown>
  releases: string[]
}

/** Answers for a position as `/advisory/point`, for an area as polygons do. @throws {ApiError} the reason for no value */
export async function advise(
  parts: AdviceParts,
  question: Question,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Advised> {
  const { subject, place } = question
  const products = subject.products.map(parts.app.products.of)
  const advised = await (place.area ? adviseOnArea : adviseAtPoint)(parts, question, products, request, reply)
  return subject.input === undefined ? advised : withInput(advised, subject.input)
}

async function adviseAtPoint(
  { lookup, readRules }: AdviceParts,
  { subject, place: { lat, lng }, area, condition }: Question,
  products: ProductDefinition[],
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Advised> {
  const { crop } = subject
  const point = { lat, lng, ...(crop && { crop }), ...(area && { area }), ...(condition && { condition }) }
  const position = positionOf(point)
  if (!lookup.places.fillFromMemory(point, position)) {
    await withTimeout(request, reply, () => lookup.places.fill(point, position))
  }
  const source = { products, hasSections: true, readRules }
  const { body, releases } = await answerPoint(lookup, source, point, request, reply)
  return { products, body, releases }
}

/** The means of an administrative area; its amounts are for a field of the asked size. */
async function adviseOnArea(
  parts: AdviceParts,
  { subject, place, area: size, condition }: Question,
  products: ProductDefinition[],
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Advised> {
  const where = place.area as NonNullable<AskedPlace['area']>
  const asked = {
    country_code: where.countryCode,
    ...(subject.crop && { crop: subject.crop }),
    ...(condition && { condition }),
    ...(size !== null && { area: size }),
  }
  return adviseOnRegion(parts, { products, hasSections: true, where, asked }, request, reply)
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
