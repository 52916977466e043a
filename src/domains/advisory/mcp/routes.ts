import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { untilGone } from '#src/http/deadline.ts'
import { partyOf } from '#src/http/party.ts'
import { isObject } from '#src/lib/objects.ts'
import { createExchange, type Exchange } from './exchange.ts'
import type { Tool } from './tool.ts'

/** A polygon of some 1,500 vertices, more than an agent will ever write. */
const BODY_LIMIT_BYTES = 65_536

/** JSON-RPC 2.0, section 5.1. */
const INVALID_REQUEST = -32_600

/**
 * The endpoint of agents (Model Context Protocol, streamable HTTP). It is not in the OpenAPI document: what it takes is
 * JSON-RPC, and its tools describe themselves to whoever asks for `tools/list`.
 */
export function mcpRoutes(app: App, tools: readonly Tool[]): void {
  let exchange: Promise<Exchange> | undefined

  async function open(): Promise<Exchange> {
    // A fifth of a second and 27 MB: services that no agent asks do without.
    const sdk = await import('@modelcontextprotocol/server')
    return createExchange(sdk, tools, app.logFailure)
  }

  function opened(): Promise<Exchange> {
    exchange ??= open().catch((error) => {
      exchange = undefined
      throw error
    })
    return exchange
  }

  app.addHook('onClose', async () => (await exchange)?.close())

  app.post(
    '',
    {
      config: { public: true, scope: 'advisory', ownTurns: true, onlyReads: true },
      schema: { hide: true },
      bodyLimit: Math.min(BODY_LIMIT_BYTES, app.config.BODY_LIMIT_BYTES),
      onRequest: async (request) => refuseOtherOrigins(app, request),
    },
    async (request: FastifyRequest, reply: FastifyReply) => {
      const message = request.body
      if (!isObject(message)) return refuse(reply)
      // To read a message takes a millisecond, and ten where it is as long as it may be: points go first.
      await app.turns.next(partyOf(request), untilGone(reply))
      const response = await (await opened()).answer(message, { request, reply })
      reply.code(response.status)
      const type = response.headers.get('content-type')
      if (type !== null) reply.type(type)
      return reply.send(await response.text())
    },
  )
}

/**
 * Pages of other origins than those that may read the API may not ask here either (DNS rebinding): what is no page sends
 * no Origin.
 *
 * @throws {ApiError} FORBIDDEN
 */
function refuseOtherOrigins({ config }: App, { headers: { origin } }: FastifyRequest): void {
  const { CORS_ORIGINS: origins } = config
  if (origin === undefined || origins.includes('*') || origins.includes(origin)) return
  throw new ApiError(
    'FORBIDDEN',
    'Pages of this origin may not ask here; the operator says which may, by CORS_ORIGINS.',
  )
}

function refuse(reply: FastifyReply): FastifyReply {
  const message = 'The body must be one message of JSON-RPC, an object: batches are not taken.'
  return reply.code(400).send({ jsonrpc: '2.0', error: { code: INVALID_REQUEST, message }, id: null })
}
