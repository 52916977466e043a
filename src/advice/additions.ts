import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Additions as AddedSchemas, Asked, PointRequest, TextFormat } from '#schemas/point-request.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'

export interface TextWish {
  products: readonly ProductDefinition[]
  asked: Omit<PointRequest, 'lat' | 'lng'>
  /** Whether the text says which place answers: the request has named an area, perhaps with an error. */
  keepsName?: boolean
  /** Whether caches may store the answer, once it is made. */
  isShared: () => boolean
}

export interface AnswerFormat extends TextFormat {
  /** Sends the text of a body, or of the reason for none. */
  reply(
    request: FastifyRequest,
    reply: FastifyReply,
    wish: TextWish,
    createBody: () => Promise<Record<string, unknown>>,
  ): Promise<FastifyReply>
}

/** What extensions add to answers for a place. */
export interface Additions extends AddedSchemas {
  formats: readonly AnswerFormat[]
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Of the extensions that are on. */
    additions: Additions & Asked
  }
}
