import type { FastifyReply, FastifyRequest } from 'fastify'
import Negotiator from 'negotiator'
import { ApiError } from '#src/errors.ts'
import type { Exchange } from '#src/http/exchange.ts'

export interface RoutePattern {
  method: string
  /** As registered, without BASE_PATH. */
  route: string
}

/** Clients can make up paths and methods. */
export const UNKNOWN_PATH: RoutePattern = { method: 'any', route: 'unknown' }

export function findRoutePattern(
  { method, url = '' }: { method: string | string[]; url?: string | undefined },
  base: string,
): RoutePattern {
  const route = url.startsWith(`${base}/`) ? url.slice(base.length) : url
  return { method: [method].flat().join(), route }
}

/**
 * Sends an answer at the end of this round of the event loop, with those of other requests: between look-ups each one
 * would wake a client, which takes the kernel longer than the service takes for the answer.
 */
export function sendAtEnd(reply: FastifyReply, send: () => unknown): void {
  reply.server.slices.atEnd(() => {
    try {
      send()
    } catch (error) {
      reply.send(error)
    }
  })
}

export function varyBy(reply: FastifyReply, header: string): FastifyReply {
  return reply.header('vary', [reply.getHeader('vary') ?? [], header].flat().join(', '))
}

type Preference = 'server-timing' | 'history=none' | 'return=provenance' | 'handling=strict'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Only for the document. */
    preferences?: readonly Preference[]
  }
}

export function prefers({ headers }: FastifyRequest, preference: Preference): boolean {
  // Node joins several Prefer headers by commas.
  const { prefer } = headers
  return typeof prefer === 'string' && prefer.split(',').some((text) => nameOf(text) === preference)
}

/** A preference without its parameters, and its value without quotes. */
function nameOf(text: string): string {
  return (text.split(';')[0] as string).replace(/[\s"]/g, '').toLowerCase()
}

export function setApplied(reply: FastifyReply, preference: Preference): void {
  reply.header(
    'preference-applied',
    [reply.getHeader('preference-applied') ?? [], preference].flat().join(', '),
  )
}

export function isApplied(reply: FastifyReply, preference: Preference): boolean {
  return String(reply.getHeader('preference-applied') ?? '')
    .split(', ')
    .includes(preference)
}

/** Parameters of media ranges other than q: no format has several kinds. */
const PARAMETERS = /;\s*(?!q\s*=)[^\s=;,"]+\s*=\s*("(?:[^"\\]|\\.)*"|[^;,]*)/gi

/** Invalid weights, which count as none (RFC 9110, 12.4.2). */
const NO_WEIGHTS = /;\s*q\s*=(?!\s*(?:0?\.\d+|0\.?|1(?:\.0*)?)\s*(?:[;,]|$))\s*("(?:[^"\\]|\\.)*"|[^;,]*)/gi

/** The type that an `Accept` header prefers, by default the first; undefined where it allows none. */
function preferredType<MediaType extends string>(
  header: string,
  offered: readonly [MediaType, ...MediaType[]],
): MediaType | undefined {
  const accept = header.trim().replace(PARAMETERS, '').replace(NO_WEIGHTS, '')
  if (accept === '') return offered[0]
  return new Negotiator({ headers: { accept } }).mediaType([...offered]) as MediaType | undefined
}

export function allowedCodings<Coding extends string>(accept: string, offered: readonly Coding[]): Coding[] {
  const headers = { 'accept-encoding': accept.replace(NO_WEIGHTS, '') }
  return new Negotiator({ headers }).encodings([...offered]) as Coding[]
}

/** The language that `Accept-Language` prefers, by default the first; undefined where it allows none. */
export function preferredLanguage({ headers }: FastifyRequest, offered: string[]): string | undefined {
  const accept = headers['accept-language']?.replace(NO_WEIGHTS, '')
  return new Negotiator({ headers: { 'accept-language': accept } }).language(offered)
}

/** Whether a client prefers a text to JSON by naming its type, or all of text. A client that accepts anything gets JSON. */
export function prefersText({ headers: { accept } }: FastifyRequest, type: `text/${string}`): boolean {
  // Most clients accept anything, and should not pay for the others.
  if (accept === undefined || !/text\//i.test(accept)) return false
  const ranges = accept.toLowerCase()
  if (!ranges.includes(type) && !ranges.includes('text/*')) return false
  return preferredType(accept, ['application/json', type]) === type
}

/** Chooses the media type that `Accept` prefers, by default the first, and adds `Vary: Accept`. */
export function negotiate<const MediaType extends string>(
  { request, reply }: Exchange,
  offered: readonly [MediaType, ...MediaType[]],
): MediaType {
  varyBy(reply, 'Accept')
  const chosen = preferredType(request.headers.accept ?? '', offered)
  if (chosen !== undefined) return chosen
  const sentence = `Accept must allow one of ${offered.join(', ')}.`
  throw new ApiError('NOT_ACCEPTABLE', sentence, [
    { field: 'Accept', message: sentence.slice(0, -1), allowed: [...offered] },
  ])
}

/** Printable ASCII, which all proxies pass, in quotes or without. */
export const IDEMPOTENCY_KEY = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/

export function readIdempotencyKey({ headers }: FastifyRequest): string | undefined {
  const key = headers['idempotency-key'] as string | undefined
  if (key === undefined || IDEMPOTENCY_KEY.test(key)) return key
  throw ApiError.invalid('Idempotency-Key', 'must be 1 to 255 printable ASCII characters')
}
