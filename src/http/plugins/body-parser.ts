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
    const parseJson = app.getDefaultJsonParser('error', 'error')
    app.removeAllContentTypeParsers()
    app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
      if (body.trim() === '') {
        done(null, undefined)
        return
      }
      void parseJson(request, body, (error, parsed) => {
        // Each level takes two brackets: short bodies need not be looked at.
        const deep = !error && body.length > 2 * MOST_LEVELS && isDeeperThan(MOST_LEVELS, parsed)
        done(deep ? tooDeep() : error, parsed)
      })
    })
    app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => {
      if (body.length === 0) done(null, undefined)
      else done(new ApiError('UNSUPPORTED_MEDIA_TYPE', 'Send the body as application/json.'))
    })
  },
  { name: 'body-parser' },
)

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
