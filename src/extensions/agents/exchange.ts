import type { McpServer } from '@modelcontextprotocol/server'
import type { FastifyRequest } from 'fastify'
import type { LogFailure } from '#src/http/plugins/logs.ts'
import { createClientSignal } from '#src/http/plugins/time-budget.ts'
import type { ToolCall } from './tool.ts'

/** The package of the protocol, loaded with the first agent. */
export type Sdk = typeof import('@modelcontextprotocol/server')

export type Exchange = ReturnType<typeof createExchange>

const HEADERS = ['mcp-protocol-version', 'mcp-method', 'mcp-name', 'mcp-session-id']

/** Answers are JSON. The package insists on streams, which one message does not need. */
const BOTH_TYPES = 'application/json, text/event-stream'

/**
 * Speaks two revisions: of 2026, and of 2025, which begins with `initialize`. Neither has a session.
 *
 * @param serverFor makes the server of a call
 */
export function createExchange(sdk: Sdk, serverFor: (call: ToolCall) => McpServer, logFailure: LogFailure) {
  const { createMcpHandler, isLegacyRequest, WebStandardStreamableHTTPServerTransport } = sdk
  const calls = new WeakMap<Request, ToolCall>()

  function findServer({ requestInfo }: { requestInfo?: Request }) {
    const call = requestInfo && calls.get(requestInfo)
    if (!call) throw new Error('no request stands behind this call')
    return serverFor(call)
  }

  /** The last error, which may be a mistake of a client. */
  let latest: Error | undefined
  const modern = createMcpHandler(findServer, {
    legacy: 'reject',
    // Tools do not change while a client listens: lasting streams would only take memory.
    maxSubscriptions: 0,
    onerror: (error) => {
      latest = error
    },
  })

  /** @throws the last error, where it is no mistake of the client */
  async function answerModern(request: Request, message: object): Promise<Response> {
    const response = await modern.fetch(request, { parsedBody: message })
    if (response.status >= 500) throw latest ?? new Error(await response.text())
    return response
  }

  /** The handler itself would answer clients of 2025 with a stream of one message. */
  async function answerLegacy(request: Request, message: object): Promise<Response> {
    const server = findServer({ requestInfo: request })
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
    try {
      await server.connect(transport)
      return await transport.handleRequest(request, { parsedBody: message })
    } finally {
      server.close().catch((error) => logFailure(error, 'a server of one message could not be closed'))
    }
  }

  return {
    async answer(message: object, call: ToolCall): Promise<Response> {
      const request = makeRequest(call)
      calls.set(request, call)
      if (await isLegacyRequest(request, message)) return answerLegacy(request, message)
      return answerModern(request, message)
    },
    close: modern.close,
  }
}

/** Makes the request that the package reads, without the body. The address is not read. */
function makeRequest({ request, reply }: ToolCall): Request {
  const headers = { 'content-type': 'application/json', accept: BOTH_TYPES, ...protocolHeaders(request) }
  return new Request('http://localhost/mcp', { method: 'POST', headers, signal: createClientSignal(reply) })
}

function protocolHeaders({ headers }: FastifyRequest): Record<string, string> {
  return Object.fromEntries(
    HEADERS.flatMap((name) => {
      const value = headers[name]
      return typeof value === 'string' ? [[name, value]] : []
    }),
  )
}
