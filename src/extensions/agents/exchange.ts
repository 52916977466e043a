import type { McpServer } from '@modelcontextprotocol/server'
import type { LogFailure } from '#src/http/plugins/logs.ts'
import { createClientSignal } from '#src/http/plugins/time-budget.ts'
import type { ToolCall } from './answer.ts'

/** The package of the protocol, loaded with the first agent. */
export type Sdk = typeof import('@modelcontextprotocol/server')

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

  /** @throws where it is no mistake of the client */
  async function answerModern(request: Request, message: object, server: McpServer): Promise<Response> {
    let failure: Error | undefined
    const handler = createMcpHandler(() => server, {
      legacy: 'reject',
      // Tools do not change while a client listens: lasting streams would only take memory.
      maxSubscriptions: 0,
      onerror: (error) => {
        failure = error
      },
    })
    const response = await handler.fetch(request, { parsedBody: message })
    if (response.status >= 500) throw failure ?? new Error(await response.text())
    return response
  }

  /** The handler itself would answer clients of 2025 with a stream of one message. */
  async function answerLegacy(request: Request, message: object, server: McpServer): Promise<Response> {
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
    try {
      await server.connect(transport)
      return await transport.handleRequest(request, { parsedBody: message })
    } finally {
      server.close().catch((error) => logFailure(error, 'a server of one message could not be closed'))
    }
  }

  return async (message: object, call: ToolCall): Promise<Response> => {
    const request = makeRequest(call)
    const answer = (await isLegacyRequest(request, message)) ? answerLegacy : answerModern
    return answer(request, message, serverFor(call))
  }
}

/** Makes the request that the package reads, without the body. The address is not read. */
function makeRequest({ request, reply }: ToolCall): Request {
  const headers = new Headers({ 'content-type': 'application/json', accept: BOTH_TYPES })
  for (const name of HEADERS) {
    const value = request.headers[name]
    if (typeof value === 'string') headers.set(name, value)
  }
  return new Request('http://localhost/mcp', { method: 'POST', headers, signal: createClientSignal(reply) })
}
