import { isUtf8 } from 'node:buffer'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { ApiError } from '#src/errors.ts'
import type { App } from '../app.ts'

/**
 * Lists and objects within each other. What is sent may be shown in an error or kept, and to write JSON
 * takes stack for each level: some thousands of them would end in an internal error.
 */
const MOST_LEVELS = 64

/**
 * Reads JSON bodies, and takes an empty body for none whatever its type is said to be: generated
 * clients send `Content-Type: application/json` with every request, and curl's `-d ''` sends a form.
 */
export const bodyParser = fp(
  async (app: App) => {
    app.removeAllContentTypeParsers()
    const readJson = jsonReader(app)
    app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, readJson)
    app.addContentTypeParser<Buffer>('*', { parseAs: 'buffer' }, (request, body, done) => {
      if (body.length === 0) done(null, undefined)
      else if (isUntypedJson(request, body)) readJson(request, body.toString(), done)
      else done(new ApiError('UNSUPPORTED_MEDIA_TYPE', 'Send the body as application/json.'))
    })
  },
  { name: 'body-parser' },
)

/** Makes what reads a body as JSON. */
export function jsonReader(app: App) {
  const parseJson = app.getDefaultJsonParser('error', 'error')
  return (
    request: FastifyRequest,
    body: string,
    done: (error: Error | null, body?: unknown) => void,
  ): void => {
    if (body.trim() === '') {
      done(null, undefined)
      return
    }
    void parseJson(request, body, (error, parsed) => {
      // Each level takes two brackets: short bodies need not be looked at.
      const deep = !error && body.length > 2 * MOST_LEVELS && isDeeperThan(MOST_LEVELS, parsed)
      done(deep ? tooDeep() : error, parsed)
    })
  }
}

/**
 * Whether a body is JSON though nothing says so: clients that are given a text for the body call it
 * text/plain, and some call it nothing. Browsers let pages of any origin send such bodies without asking
 * (CORS). That is no danger: what acts for somebody has a token in a header, which a page must have been
 * given, and no cookie, which a browser would add by itself.
 */
export function isUntypedJson({ headers }: FastifyRequest, body: Buffer): boolean {
  const type = headers['content-type']
  if (type !== undefined && !/^text\/plain\s*(;|$)/i.test(type)) return false
  return isUtf8(body) && /^\s*[{[]/.test(body.toString('utf8', 0, LONGEST_LEAD))
}

/** So many bytes of a body tell what it begins with. */
const LONGEST_LEAD = 64

function isDeeperThan(levels: number, value: unknown): boolean {
  if (value === null || typeof value !== 'object') return false
  if (levels === 0) return true
  const parts = Array.isArray(value) ? value : Object.values(value)
  return parts.some((part) => isDeeperThan(levels - 1, part))
}

function tooDeep(): ApiError {
  const sentence = `The body has lists or objects within each other on more than ${MOST_LEVELS} levels.`
  return new ApiError('MALFORMED_JSON', sentence)
}
