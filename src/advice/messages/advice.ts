import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { hasQuantities } from '#schemas/quantities.ts'
import { ApiError } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { withTimeout } from '#src/http/plugins/time-budget.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import type { LocatableRequest } from '#src/lookup/places.ts'
import { makeReleaseMembers, positionOf } from '#src/lookup/releases.ts'
import { answerPoint } from '../point/answer.ts'
import type { Advisors, RegionQuestion } from '../polygon/advisors.ts'
import { type Advice, describeRegion, makeRegionData, readMeans } from '../polygon/answer.ts'
import { entriesWith, type QuantityRules, quantitiesAt, type ReadRules } from '../quantities/compute.ts'
import type { FieldArea } from '../quantities/plan.ts'
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

export interface AdviceParts {
  app: App
  lookup: Lookup
  advisors: Advisors
  readRules: ReadRules
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

/** The means of an administrative area, one product after the other; its amounts are for a field of the asked size. */
async function adviseOnArea(
  { advisors, lookup, readRules }: AdviceParts,
  { subject, place: { name, area }, area: size, condition }: Question,
  products: ProductDefinition[],
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Advised> {
  const where = area as NonNullable<AskedPlace['area']>
  const asked: RegionQuestion & LocatableRequest = {
    country_code: where.countryCode,
    ...(subject.crop && { crop: subject.crop }),
    ...(condition && { condition }),
  }
  await withTimeout(request, reply, () => lookup.places.fillCrop(asked))
  const readFor = () => readRules({ ...asked, area: size ?? undefined }, products)
  const rules = size === null ? null : await withTimeout(request, reply, readFor)
  const sections = new Map<string, object>()
  const releases: string[] = []
  let [location, reason]: [object, ApiError | undefined] = [{ name }, undefined]
  for (const product of products) {
    try {
      const advice = await advisors.adviseWithTimeout(request, reply, (waiting) =>
        advisors.adviseOn(where, { product, asked: { ...asked }, wanted: null }, waiting),
      )
      location = describeRegion(undefined, advice)
      releases.push(advice.release.code)
      const data = { ...makeReleaseMembers(advice.release), ...makeRegionData(product, advice, null) }
      sections.set(product.code, rules ? withAmounts(product, advice, data, rules) : data)
    } catch (error) {
      if (!(error instanceof ApiError) || error.status >= 500) throw error
      reason ??= error
    }
  }
  if (reason && sections.size === 0) throw reason
  return {
    products: products.filter(({ code }) => sections.has(code)),
    body: { location, ...Object.fromEntries(sections) },
    releases,
  }
}

/** The means of an area on a field of a size: of the field nothing else is known. */
function withAmounts(
  product: ProductDefinition,
  advice: Advice,
  data: Record<string, unknown>,
  rules: QuantityRules,
): Record<string, unknown> {
  if (!hasQuantities(product)) return data
  const means = readMeans(advice.release, advice).map((mean) => mean ?? Number.NaN)
  const figures = quantitiesAt(rules, product, advice.release, means, rules.plan.area as FieldArea)
  const entries = entriesWith(data[product.entries] as object[], figures)
  return { ...data, [product.entries]: entries, quantities: figures.quantities }
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
