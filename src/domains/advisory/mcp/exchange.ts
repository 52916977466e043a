import type { FastifyRequest } from 'fastify'
import { untilGone } from '#src/http/deadline.ts'
import type { LogFailure } from '#src/http/plugins/failure-log.ts'
import type { Asker } from '../lookup/advice-desk.ts'
import { type Sdk, serverFactory } from './server.ts'
import type { Tool } from './tool.ts'

/** Answers messages of agents' clients. */
export interface Exchange {
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
export function createExchange(sdk: Sdk, tools: readonly Tool[], logFailure: LogFailure): Exchange {
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
