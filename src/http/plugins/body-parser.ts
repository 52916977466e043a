import { isUtf8 } from 'node:buffer'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { ApiError } from '#src/errors.ts'
import { excessOf } from '#src/lib/json-nesting.ts'
import type { App } from '../app.ts'
import { whileThere } from '../deadline.ts'
import { partyOf } from '../party.ts'

/**
 * Lists and objects within each other. What is sent may be shown in an error or kept, and to write JSON
 * takes stack for each level: some thousands of them would end in an internal error.
 */
const MOST_LEVELS = 64

/** Several times as many as a polygon has positions. A million bytes could have 300,000, and take as long as 100,000 points. */
const MOST_LISTS = 50_000

/** What is shorter takes no longer to parse than a few points take to answer. */
const SOON_PARSED_BYTES = 8192

export const NOT_UTF8 = 'The body is not valid UTF-8.'

/**
 * Reads JSON bodies, and takes an empty body for none whatever its type is said to be: generated
 * clients send `Content-Type: application/json` with every request, and curl's `-d ''` sends a form.
 */
export const bodyParser = fp(
  async (app: App) => {
    app.removeAllContentTypeParsers()
    const readJson = jsonReader(app)
    app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, readJson)
    app.addContentTypeParser<Buffer>('*', { parseAs: 'buffer' }, (request, body, done) => {
      if (body.length === 0) done(null, undefined)
      else if (isUntypedJson(request, body)) readJson(request, body, done)
      else done(new ApiError('UNSUPPORTED_MEDIA_TYPE', 'Send the body as application/json.'))
    })
  },
  { name: 'body-parser' },
)

/** Makes what reads a body as JSON. */
export function jsonReader(app: App) {
  const parseJson = app.getDefaultJsonParser('error', 'error')
  type Done = (error: Error | null, body?: unknown) => void

  function read(request: FastifyRequest, body: Buffer, done: Done): void {
    // Decoded, bytes that differ would become the same characters: of two passwords, too.
    if (!isUtf8(body)) {
      done(new ApiError('MALFORMED_BODY', NOT_UTF8))
      return
    }
    const json = body.toString()
    if (json.trim() === '') {
      done(null, undefined)
      return
    }
    const excess = nestingError(json, 'body')
    if (excess) done(excess)
    else void parseJson(request, json, done)
  }

  return (request: FastifyRequest, body: Buffer, done: Done): void => {
    if (body.length <= SOON_PARSED_BYTES) read(request, body, done)
    else turnToParse(app, request, body).then(() => read(request, body, done), done)
  }
}

/**
 * Waits until a body may be parsed. Long ones would otherwise be parsed one right after the other as they arrive,
 * and points wait for all of them.
 */
export async function turnToParse({ turns }: App, request: FastifyRequest, body: Buffer): Promise<void> {
  if (body.length <= SOON_PARSED_BYTES) return
  await whileThere(request, (signal) => turns.next(partyOf(request), signal))
}

/**
 * What is answered to JSON that would take long to parse, or to write, for its lists; nothing where it would not.
 *
 * @param what it is the whole of
 * @param lists so many lists and objects are not too many
 */
export function nestingError(json: string, what: 'body' | 'line', lists = MOST_LISTS): ApiError | undefined {
  // Each level takes two brackets: short texts need not be looked at.
  if (json.length <= 2 * MOST_LEVELS) return undefined
  const excess = excessOf(json, { levels: MOST_LEVELS, lists })
  if (excess === undefined) return undefined
  const rule = {
    levels: `lists or objects within each other on more than ${MOST_LEVELS} levels`,
    lists: `more than ${lists} lists and objects`,
  }
  return new ApiError('MALFORMED_JSON', `The ${what} has ${rule[excess]}.`)
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
