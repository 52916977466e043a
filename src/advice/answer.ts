import type { FastifyReply, FastifyRequest } from 'fastify'
import type { PointRequest, TextFormat } from '#schemas/point-request.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { ApiError } from '#src/errors.ts'
import { entityTag } from '#src/http/entity-tags.ts'
import type { Exchange } from '#src/http/exchange.ts'
import { CSV } from '#src/http/formats.ts'
import { allowCaching, mayBeShared } from '#src/http/plugins/caching.ts'
import { prefersText, varyBy } from '#src/http/request.ts'

export type Members = Record<string, unknown>

/** The answer for one place, before it is written. It never changes: members that are added make another one. */
export interface Answer {
  /** Codes of the releases that answer. */
  readonly releases: readonly string[]
  withMembers(members: Members): Answer
  describe(): Members
  writeJson(): string
  /** A header and a row of CSV. Answers for several products have none. */
  writeTable(): string
}

/** The answer of an object. */
export function answerFrom(
  body: Members,
  releases: readonly string[] = [],
  writeTable: Answer['writeTable'] = () => '',
): Answer {
  return {
    releases,
    withMembers: (members) => answerFrom({ ...body, ...members }, releases, writeTable),
    describe: () => body,
    writeJson: () => JSON.stringify(body),
    writeTable,
  }
}

/** What a format needs to know of a question. */
export interface AnswerContext {
  products: readonly ProductDefinition[]
  asked: Omit<PointRequest, 'lat' | 'lng'>
  /** Whether a text says which place answers: the request has named an area, perhaps with an error. */
  keepsName?: boolean
  /** Header of an answer; a 304 has none. */
  link?: string | undefined
}

export interface WrittenAnswer {
  text: string
  contentType: string
  /** Of a text for people. */
  language?: string
}

/** A format of answers for one place. */
export interface AnswerFormat {
  /** In `format`. */
  name: string
  /** What becomes of the members that a request asks for. */
  members: 'written' | 'left out' | 'refused'
  /** Writes an answer, or the reason for none; undefined for an error that stays JSON. */
  write(answer: Answer | Error, context: AnswerContext, exchange: Exchange): WrittenAnswer | undefined
}

/** A format of an extension. */
export type AnswerText = AnswerFormat & TextFormat

/** The one that Fastify can write, too. */
export const JSON_ANSWER: AnswerFormat = {
  name: 'json',
  members: 'written',
  write: (answer) =>
    answer instanceof Error ? undefined : { text: answer.writeJson(), contentType: JSON_TYPE },
}

const JSON_TYPE = 'application/json; charset=utf-8'

const CSV_ANSWER: AnswerFormat = {
  name: 'csv',
  members: 'refused',
  write: (answer) =>
    answer instanceof Error ? undefined : { text: answer.writeTable(), contentType: CSV.contentType },
}

/**
 * Takes the format of an answer out of a question: the one that `format` names, or else `Accept`. Its parameters leave, too.
 *
 * @throws {ApiError} INVALID_PARAMETERS for a member that the format has no columns for
 */
export function takeFormat(
  request: FastifyRequest,
  asked: Partial<PointRequest>,
  named?: string,
): AnswerFormat {
  const { formats, members } = request.server.additions
  for (const { parameters } of formats) {
    for (const name in parameters) if (name in asked) delete (asked as Members)[name]
  }
  const format =
    [JSON_ANSWER, CSV_ANSWER, ...formats].find(({ name }) => name === named) ??
    formats.find(({ mediaType }) => prefersText(request, mediaType)) ??
    JSON_ANSWER
  const refused = format.members === 'refused' && members.find(({ name }) => asked[name])
  if (!refused) return format
  const rule = `must be left out for ${format.name.toUpperCase()}, which has no columns for it`
  throw ApiError.invalid(refused.name, rule)
}

/** Sends an answer or the reason for none in its format, and 304 to a client that has it. */
export function sendAnswer(
  exchange: Exchange,
  format: AnswerFormat,
  context: AnswerContext,
  answer: Answer | Error,
): FastifyReply {
  const { request, reply } = exchange
  const written = format.write(answer, context, exchange)
  nameVaried(exchange, written)
  if (answer instanceof Error) {
    if (!written) return reply.send(answer)
    const { code, status } = answer as ApiError
    request.errorCode = code
    return sendText(reply.code(status), written)
  }
  const { text, language } = written as WrittenAnswer
  const { releases } = answer
  if (releases.length > 0) reply.header('advisory-release', releases.join(', '))
  const parts = language ? [language, text] : [text]
  if (mayBeShared(exchange) && allowCaching(exchange, entityTag(...parts))) return reply.code(304).send()
  if (context.link) reply.header('link', context.link)
  return sendText(reply, written as WrittenAnswer)
}

function nameVaried({ request, reply }: Exchange, written: WrittenAnswer | undefined): void {
  if (written?.language) varyBy(varyBy(reply, 'Accept'), 'Accept-Language')
  else if (request.method !== 'POST') varyBy(reply, 'Accept')
}

function sendText(reply: FastifyReply, { text, contentType, language }: WrittenAnswer): FastifyReply {
  if (language) reply.header('content-language', language)
  return reply.header('content-type', contentType).send(text)
}
