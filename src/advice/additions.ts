import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AnswerOptions, MemberSchemas, PointRequest } from '#schemas/point-request.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { ApiError } from '#src/errors.ts'
import type { Exchange } from '#src/http/exchange.ts'
import { isObject } from '#src/lib/json.ts'
import type { ReleaseLabels } from '#src/lookup/entries.ts'
import type { Position } from '#src/lookup/layers.ts'
import type { PointAdvice } from '#src/lookup/lookup.ts'
import type { AnswerText } from './answer.ts'

/** Of a point, as the rasters have it. */
interface PixelMember extends MemberSchemas {
  of: 'pixels'
  read(point: PointRequest, advice: readonly PointAdvice[], exchange: Exchange): Promise<unknown>
  /** Whether the history has it also of an answer in a text, which has no room for members. */
  isKeptOfTexts?: boolean
}

/** Of a product at a point or in an area. */
interface ProductMember extends MemberSchemas {
  of: 'products'
  read(product: ProductDefinition, advice: ProductAdvice, exchange: Exchange): Promise<unknown>
}

interface ProductAdvice {
  release: ReleaseLabels
  position: Position
}

export type AnswerMember = PixelMember | ProductMember

/** That answers of older versions had: the history keeps it, and requests for it are refused. */
interface FormerMember {
  name: string
  /** What the refusal says behind the name. */
  rule: string
}

/** What is added to answers for a place. */
export interface Additions {
  members: readonly AnswerMember[]
  formats: readonly AnswerText[]
  former: readonly FormerMember[]
}

/** Reads the members of a product that a request asks for. */
export async function readMembers(
  asked: object,
  product: ProductDefinition,
  advice: ProductAdvice,
  exchange: Exchange,
): Promise<Record<string, unknown>> {
  const { request } = exchange
  const found: Record<string, unknown> = {}
  for (const member of request.server.additions.members) {
    const isAsked = member.of === 'products' && (asked as PointRequest)[member.name]
    if (isAsked) found[member.name] = await member.read(product, advice, exchange)
  }
  return found
}

/** @throws {ApiError} INVALID_PARAMETERS for members that answers no longer have */
export function refuseFormer({ query, body, server }: FastifyRequest): void {
  for (const { name, rule } of server.additions.former) {
    const wish = (isObject(body) ? body[name] : undefined) ?? (query as Record<string, unknown>)[name]
    if (wish !== undefined && wish !== false && wish !== 'false') throw ApiError.invalid(name, rule)
  }
}

/** The same as a hook: a point in memory is answered at once, so that no promise may come between. */
export function formerRefusal(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  refuseFormer(request)
  done()
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Of the core, and of the extensions that are on. */
    additions: Additions & AnswerOptions
  }
}
