import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '#src/errors.ts'
import { nameMeant } from '#src/lib/name-meant.ts'
import { isObject } from '#src/lib/objects.ts'
import { isApplied, prefers, sayApplied } from './preferences.ts'
import { varyBy } from './vary.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The fields and parameters of a call that its operation does not know; null for none. */
    ignored: IgnoredNames | null
  }
}

/** A name that an operation does not know, and the one that was probably meant. */
export interface IgnoredName {
  name: string
  did_you_mean?: string
}

/** An answer says so many of them, each cut off after so many characters. */
const MOST_NAMES = 10
const MOST_CHARACTERS = 40

const STRICT = 'handling=strict'

/** The names in a call that its operation does not know. */
export class IgnoredNames {
  /** With those that are known instead. */
  readonly #names = new Map<string, ReadonlySet<string>>()

  add(name: string, known: ReadonlySet<string>): void {
    const cut = name.slice(0, MOST_CHARACTERS).toWellFormed()
    if (this.#names.size < MOST_NAMES && !this.#names.has(cut)) this.#names.set(cut, known)
  }

  /** As answers have them. */
  get list(): IgnoredName[] {
    return [...this.#names].map(([name, known]) => {
      const meant = nameMeant(name, known)
      return { name, ...(meant !== undefined && { did_you_mean: meant }) }
    })
  }

  /** As the header has them: what is no letter, digit or one of `-_.!~*'()` is encoded as in addresses. */
  get header(): string {
    return [...this.#names.keys()].map(encodeURIComponent).join(', ')
  }
}

/**
 * Makes a hook that notes the names in the body and the query of a call that its operation does not know, and says so in
 * the answer.
 *
 * @param known the names that it knows, and those of its siblings: one body serves them all
 * @throws {ApiError} (the hook) as {@link sayIgnored}
 */
export function ignoredNoter(known: Iterable<string>) {
  const names = new Set(known)
  return (request: FastifyRequest, reply: FastifyReply): void => {
    noteUnknown(request, request.query, names)
    if (isObject(request.body)) noteUnknown(request, request.body, names)
    if (request.ignored !== null || request.headers.prefer !== undefined) sayIgnored(request, reply)
  }
}

/** Notes the names of an object that are none of those that are known. */
export function noteUnknown(request: FastifyRequest, object: unknown, known: ReadonlySet<string>): void {
  for (const name in object as object) {
    if (known.has(name)) continue
    request.ignored ??= new IgnoredNames()
    request.ignored.add(name, known)
  }
}

/**
 * Says in the answer which names are ignored, once they have been noted.
 *
 * @throws {ApiError} INVALID_PARAMETERS where there are any, and `Prefer: handling=strict` (RFC 7240) wants none
 */
export function sayIgnored(request: FastifyRequest, reply: FastifyReply): void {
  const isStrict = prefers(request, STRICT)
  if (isStrict && !isApplied(reply, STRICT)) sayApplied(reply, STRICT)
  const { ignored } = request
  if (ignored === null) return
  reply.header('advisory-ignored', ignored.header)
  // Caches must not give a lenient answer to a strict call.
  if (request.method !== 'POST') varyBy(reply, 'Prefer')
  if (isStrict) throw unknownNames(ignored.list)
}

/** The member of an answer that says what was ignored; nothing where nothing was. */
export function ignoredMember({ ignored }: FastifyRequest): { ignored?: IgnoredName[] } {
  return ignored === null ? {} : { ignored: ignored.list }
}

function unknownNames(names: readonly IgnoredName[]): ApiError {
  const details = names.map(({ name, did_you_mean }) => {
    const hint = did_you_mean === undefined ? '' : ` (did you mean ${did_you_mean}?)`
    return { field: name, message: `${name} is not a parameter of this operation${hint}` }
  })
  const sentence = details.map(({ message }) => message).join('; ')
  return new ApiError('INVALID_PARAMETERS', `${sentence}.`, details)
}
