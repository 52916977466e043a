import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { untilGone } from '#src/http/deadline.ts'
import type { LogFailure } from '#src/http/plugins/failure-log.ts'
import { clientKeyOf } from '#src/http/request.ts'
import { isObject } from '#src/lib/collections.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import type { AdviceService, Asker } from './advice-service.ts'
import { adviseArea, advisePoint, quantities } from './advice-tools.ts'
import { explainNoData, whereIs } from './place-tools.ts'
import { createAreaSearch, createOrigins } from './places.ts'
import { catalogue, releases } from './release-tools.ts'
import { type Sdk, serverFactory } from './server.ts'
import type { Tool } from './tool.ts'

/** Answers messages of agents' clients. */
interface Exchange {
  /** @param message one message of JSON-RPC, parsed */
  answer(message: object, by: Asker): Promise<Response>
  close(): Promise<void>
}

/** Headers of the protocol, all that it looks at. */
const HEADERS = ['mcp-protocol-version', 'mcp-method', 'mcp-name', 'mcp-session-id']

/** JSON is all that is ever answered: what clients ask for besides is a stream, which nobody needs for one message. */
const BOTH_TYPES = 'application/json, text/event-stream'

/**
 * Makes what answers messages of both revisions of the protocol that clients speak: of 2026, where each message says all
 * that there is to know of its client, and of 2025, where clients begin with `initialize`. Neither has a session here.
 */
function createExchange(sdk: Sdk, tools: readonly Tool[], logFailure: LogFailure): Exchange {
  const { createMcpHandler, isLegacyRequest, WebStandardStreamableHTTPServerTransport } = sdk
  const serverFor = serverFactory(sdk, tools)
  const askers = new WeakMap<Request, Asker>()

  function serverOf({ requestInfo }: { requestInfo?: Request }) {
    const by = requestInfo && askers.get(requestInfo)
    if (!by) throw new Error('no request stands behind this call')
    return serverFor(by)
  }

  /** What went wrong last, which may be a mistake of a client. */
  let latest: Error | undefined
  const modern = createMcpHandler(serverOf, {
    legacy: 'reject',
    // Nothing ever changes while a client listens: streams that last would only take room.
    maxSubscriptions: 0,
    onerror: (error) => {
      latest = error
    },
  })

  /** @throws what went wrong, where that is no mistake of the client */
  async function answerModern(request: Request, message: object): Promise<Response> {
    const response = await modern.fetch(request, { parsedBody: message })
    if (response.status >= 500) throw latest ?? new Error(await response.text())
    return response
  }

  /** As the handler does for clients of 2025, but in JSON: it would answer with a stream of one message. */
  async function answerLegacy(request: Request, message: object): Promise<Response> {
    const server = serverOf({ requestInfo: request })
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
    try {
      await server.connect(transport)
      return await transport.handleRequest(request, { parsedBody: message })
    } finally {
      server.close().catch((error) => logFailure(error, 'a server of one message could not be closed'))
    }
  }

  return {
    async answer(message, by) {
      const request = requestOf(by)
      askers.set(request, by)
      if (await isLegacyRequest(request, message)) return answerLegacy(request, message)
      return answerModern(request, message)
    },
    close: modern.close,
  }
}

/** A request as the protocol sees it: its body has been read. */
function requestOf({ request, reply }: Asker): Request {
  const headers = { 'content-type': 'application/json', accept: BOTH_TYPES, ...protocolHeaders(request) }
  // Nobody looks at the address.
  return new Request('http://localhost/mcp', { method: 'POST', headers, signal: untilGone(reply) })
}

function protocolHeaders({ headers }: FastifyRequest): Record<string, string> {
  return Object.fromEntries(
    HEADERS.flatMap((name) => {
      const value = headers[name]
      return typeof value === 'string' ? [[name, value]] : []
    }),
  )
}

/** A polygon of some 1,500 vertices, more than an agent will ever write. */
const BODY_LIMIT_BYTES = 65_536

/** JSON-RPC 2.0, section 5.1. */
const INVALID_REQUEST = -32_600

/**
 * The endpoint of agents (Model Context Protocol, streamable HTTP). It is not in the OpenAPI document: what it takes is
 * JSON-RPC, and its tools describe themselves to whoever asks for `tools/list`.
 */
function mcpRoutes(app: App, tools: readonly Tool[]): void {
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
      await app.turns.next(clientKeyOf(request), untilGone(reply))
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

interface McpOptions {
  lookup: Lookup
  service: AdviceService
}

/** The tools of agents: what the endpoints answer, in few words. */
export async function mcp(app: App, { lookup, service }: McpOptions): Promise<void> {
  const { products } = app
  const origins = createOrigins(app, lookup)
  const search = createAreaSearch(app, origins)
  mcpRoutes(app, [
    catalogue(products, origins),
    whereIs(service, search, origins),
    advisePoint(products, service, origins),
    adviseArea(products, service, search, origins),
    quantities(products, service, origins),
    explainNoData(products, service, origins),
    releases(products, origins),
  ])
}
