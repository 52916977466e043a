import { type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { isDatabaseReadOnly, isDatabaseUnavailable, StorageUnavailable } from '#src/data/failures.ts'
import { ApiError, BASE, databaseUnavailable, type ErrorCode } from '#src/errors.ts'
import { TextError } from '#src/lib/text.ts'
import type { App } from '../app.ts'
import { validationError } from '../parameters.ts'
import { newRequestId, readRequestId, SECURITY_HEADERS } from './request-head.ts'

/** Outage of the database or of the store of tiles; undefined for other errors. */
export function databaseError(error: unknown): ApiError | undefined {
  if (error instanceof StorageUnavailable) {
    return new ApiError('DATABASE_UNAVAILABLE', 'The rasters cannot be read at present; try again later.')
  }
  if (isDatabaseReadOnly(error)) return new ApiError('DATABASE_READ_ONLY')
  return isDatabaseUnavailable(error) ? databaseUnavailable() : undefined
}

declare module 'fastify' {
  interface FastifyRequest {
    errorCode: ErrorCode | null
  }
}

const RETRY_AFTER_SECONDS = '1'

/** How to authenticate, for clients that read it (RFC 6750). */
export const CHALLENGE = 'Bearer realm="agro-advisory"'

/** Refusals in the log, for a search for intruders. */
const REFUSALS = new Set([401, 403, 429])

const FASTIFY_ERRORS: Record<string, [ErrorCode, string?]> = {
  FST_ERR_CTP_INVALID_JSON_BODY: ['MALFORMED_JSON'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
    'MALFORMED_REQUEST',
    'The body is not as long as Content-Length says.',
  ],
  FST_ERR_CTP_BODY_TOO_LARGE: ['BODY_TOO_LARGE'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['UNSUPPORTED_MEDIA_TYPE'],
  FST_ERR_BAD_URL: [
    'MALFORMED_REQUEST',
    'The URL is not valid: a % must be followed by two hexadecimal digits.',
  ],
  FST_ERR_MAX_PARAM_LENGTH: ['NOT_FOUND', 'There is no such path.'],
}

export const errorHandler = fp(
  async (app: App) => {
    app.decorateRequest('errorCode', null)
    app.setErrorHandler((error: FastifyError, request, reply) => {
      const answer = toApiError(error, request)
      // A client that has gone is no fault of the service.
      if (brokeOff(error, request)) request.log.info(answer.message)
      else if (answer.code === 'QUERY_TIMEOUT' && reply.raw.destroyed) request.log.info(answer.message)
      else if (answer.status >= 500) app.logErrorAnswer(request, error, answer)
      else if (REFUSALS.has(answer.status)) {
        request.log.info({ code: answer.code, path: request.routeOptions.url, ip: request.ip }, 'refused')
      }
      return send(answer, reply)
    })
    app.server.on('checkExpectation', (request, response) => {
      const error = new ApiError('MALFORMED_REQUEST', 'The Expect header asks for something unknown.')
      const { headers, body } = bareAnswer(error, readRequestId(request))
      response.writeHead(error.status, headers).end(body)
    })
  },
  { name: 'error-handler', dependencies: ['failure-log'] },
)

function send(error: ApiError, reply: FastifyReply): FastifyReply {
  reply.request.errorCode = error.code
  if (error.status === 503) reply.header('retry-after', RETRY_AFTER_SECONDS)
  if (error.status === 401) reply.header('www-authenticate', CHALLENGE)
  // The tag is that of a success, which caches may store.
  if (reply.hasHeader('etag')) reply.removeHeader('etag').header('cache-control', 'no-store')
  return reply
    .headers(error.headers)
    .code(error.status)
    .type('application/json; charset=utf-8')
    .serializer((text: string) => text)
    .send(formatBody(error, reply.request.id, reply.request.basePath))
}

function formatBody(error: ApiError, requestId: string, basePath = ''): string {
  const body = JSON.stringify({ ...error.body, request_id: requestId })
  return body.includes(BASE) ? body.replaceAll(BASE, () => basePath) : body
}

function bareAnswer(error: ApiError, requestId: string): { headers: Record<string, string>; body: string } {
  const body = formatBody(error, requestId)
  return {
    headers: {
      ...SECURITY_HEADERS,
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(Buffer.byteLength(body)),
      'x-request-id': requestId,
    },
    body,
  }
}

export function frameworkErrors(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  send(toApiError(error, request), reply.headers({ ...SECURITY_HEADERS, 'x-request-id': request.id }))
}

/** Whether the client's connection broke: an error of the database looks the same. */
function brokeOff(error: Error, { raw }: FastifyRequest): boolean {
  return raw.errored === error
}

export function toApiError(error: FastifyError, request: FastifyRequest): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof TextError) return new ApiError('MALFORMED_BODY', error.message)
  if (brokeOff(error, request)) return new ApiError('MALFORMED_REQUEST', 'The body broke off.')
  const { body, query } = request
  if (error.validation) {
    const judged = error.validationContext === 'body' ? body : query
    return validationError(error.validation, judged, request.ignored?.names)
  }
  const ofFastify = FASTIFY_ERRORS[error.code]
  if (ofFastify) return new ApiError(...ofFastify)
  // Missing or hidden files of the documentation.
  if (error.statusCode === 403 || error.statusCode === 404) {
    return new ApiError('NOT_FOUND', 'There is no such path.')
  }
  // The JSON parser throws syntax errors and refuses __proto__ with a bare 400.
  if (error.statusCode === 400) return new ApiError('MALFORMED_JSON')
  const ofDatabase = databaseError(error)
  if (ofDatabase) return ofDatabase
  return new ApiError('INTERNAL')
}

/** Errors of the HTTP parser, before there is a request. */
export function clientErrorHandler(error: NodeJS.ErrnoException, socket: Socket): void {
  // Earlier requests of the same packet are answered first, at the end of this round of the event loop.
  setImmediate(() => refuse(error, socket))
}

/**
 * Answers a request whose body is too slow, and reads no more of it. Behind an unanswered request, or after the begin of
 * its answer, the connection is cut.
 */
export function refuseSlowRequest({ req: request, socket, headersSent }: ServerResponse): void {
  if (socket !== request.socket || headersSent) {
    request.socket.destroy()
    return
  }
  request.unpipe()
  request.pause()
  refuse({ code: 'ERR_HTTP_REQUEST_TIMEOUT' }, request.socket)
}

function refuse({ code: reason }: { code?: string }, socket: Socket): void {
  if (reason === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const error = new ApiError(findParserError(reason))
  const { headers, body } = bareAnswer(error, newRequestId())
  const lines = Object.entries({ ...headers, connection: 'close' }).map(
    ([name, value]) => `${name}: ${value}`,
  )
  const statusLine = `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`
  hangUp(socket, [statusLine, ...lines, '', body].join('\r\n'))
}

function findParserError(code: string | undefined): ErrorCode {
  if (code === 'HPE_HEADER_OVERFLOW') return 'HEADERS_TOO_LARGE'
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'REQUEST_TIMEOUT' : 'MALFORMED_REQUEST'
}

/** Time for a client to read the end of a connection. */
const LINGER_MS = 1000

/**
 * Ends the connection after the written bytes, and waits for the client to end it too (RFC 9112, 9.6): a reset may take
 * the answer from the client. Clients send later requests again elsewhere.
 */
export function hangUp(socket: Socket, lastText?: string): void {
  if (socket.writableEnded) return
  // Without its listener, Node's parser gets nothing more.
  socket
    .removeAllListeners('data')
    .on('data', () => {})
    .resume()
  if (lastText !== undefined) socket.write(lastText)
  socket.end()
  socket.once('finish', () => setTimeout(() => socket.destroy(), LINGER_MS).unref())
}
