import fp from 'fastify-plugin'
import { ApiError } from '#src/errors.ts'
import type { App } from './app.ts'

/**
 * Reads JSON bodies, and takes an empty body for none whatever its type is said to be: generated
 * clients send `Content-Type: application/json` with every request, and curl's `-d ''` sends a form.
 */
export const bodyParser = fp(
  async (app: App) => {
    const parseJson = app.getDefaultJsonParser('error', 'error')
    app.removeAllContentTypeParsers()
    app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
      if (body.trim() === '') done(null, undefined)
      else parseJson(request, body, done)
    })
    app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => {
      if (body.length === 0) done(null, undefined)
      else done(new ApiError('UNSUPPORTED_MEDIA_TYPE', 'Send the body as application/json.'))
    })
  },
  { name: 'body-parser' },
)
