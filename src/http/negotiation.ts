import type { FastifyReply, FastifyRequest } from 'fastify'
import Negotiator from 'negotiator'
import { ApiError } from '#src/errors.ts'
import { varyBy } from './vary.ts'

/** Parameters of media ranges other than q: of what we answer with, none comes in several kinds. */
const PARAMETERS = /;\s*(?!q\s*=)[^\s=;,"]+\s*=\s*("(?:[^"\\]|\\.)*"|[^;,]*)/gi

/** Weights that are no number from 0 to 1: what has one is as welcome as what has none (RFC 9110, 12.4.2). */
const NO_WEIGHTS = /;\s*q\s*=(?!\s*(?:0?\.\d+|0\.?|1(?:\.0*)?)\s*(?:[;,]|$))\s*("(?:[^"\\]|\\.)*"|[^;,]*)/gi

/**
 * Of several types the one that an `Accept` header would rather have: the first one where it does not say, undefined where
 * it allows none of them.
 */
function preferredType<MediaType extends string>(
  header: string,
  offered: readonly [MediaType, ...MediaType[]],
): MediaType | undefined {
  const accept = header.trim().replace(PARAMETERS, '').replace(NO_WEIGHTS, '')
  if (accept === '') return offered[0]
  return new Negotiator({ headers: { accept } }).mediaType([...offered]) as MediaType | undefined
}

/** Of several languages the one that an `Accept-Language` header would rather have; undefined where it wants none of them. */
export function preferredLanguage(accept: string, offered: readonly string[]): string | undefined {
  const headers = { 'accept-language': accept.replace(NO_WEIGHTS, '') }
  return new Negotiator({ headers }).language([...offered])
}

/** Those of several codings that an `Accept-Encoding` header allows. */
export function allowedCodings<Coding extends string>(accept: string, offered: readonly Coding[]): Coding[] {
  const headers = { 'accept-encoding': accept.replace(NO_WEIGHTS, '') }
  return new Negotiator({ headers }).encodings([...offered]) as Coding[]
}

/**
 * Whether a client would rather have a text than JSON, and says so: by naming its type, or all of text. Who takes
 * anything, as most programs do, gets JSON.
 */
export function prefersText({ headers: { accept } }: FastifyRequest, type: `text/${string}`): boolean {
  // Most clients take anything: they are not to pay for those who do not.
  if (accept === undefined || !/text\//i.test(accept)) return false
  const ranges = accept.toLowerCase()
  if (!ranges.includes(type) && !ranges.includes('text/*')) return false
  return preferredType(accept, ['application/json', type]) === type
}

/**
 * Chooses, of the media types that an operation can answer with, the one that `Accept` would rather have;
 * the first one where it does not say. The answer says that it depends on `Accept`.
 *
 * @throws {ApiError} NOT_ACCEPTABLE where `Accept` allows none of them
 */
export function negotiate<const MediaType extends string>(
  { headers: { accept = '' } }: FastifyRequest,
  reply: FastifyReply,
  offered: readonly [MediaType, ...MediaType[]],
): MediaType {
  varyBy(reply, 'Accept')
  const chosen = preferredType(accept, offered)
  if (chosen !== undefined) return chosen
  const sentence = notAcceptable(offered)
  throw new ApiError('NOT_ACCEPTABLE', sentence, [
    { field: 'Accept', message: sentence.slice(0, -1), allowed: [...offered] },
  ])
}

export function notAcceptable(offered: readonly string[]): string {
  return `Accept must allow one of ${offered.join(', ')}.`
}
