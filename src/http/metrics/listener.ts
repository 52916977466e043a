import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Config } from '#src/config.ts'
import { ApiError, OperatorError } from '#src/errors.ts'
import { formatError } from '#src/lib/promises.ts'
import type { App } from '../app.ts'

const PATH = '/metrics'

const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

const MOST_CONNECTIONS = 20

/** A request has no body, and its headers are short; an answer has some hundred kilobytes. */
const RECEIVING_MS = 5000
const SILENCE_MS = 30_000

interface ScrapePort extends AddressInfo {
  close(): void
}

type ReadMetrics = () => Promise<string>

/** Serves the metrics on METRICS_PORT until the service closes. */
export async function listenForScrapes(app: App): Promise<ScrapePort | undefined> {
  if (app.config.METRICS_PORT === undefined) return undefined
  // Loaded with METRICS_PORT alone.
  const { createRegistry } = await import('./registry.ts')
  const registry = createRegistry(app.metrics)
  const port = await serveScrapes(
    app.config,
    () => registry.metrics(),
    (error) => app.log.error({ err: error }, 'the metrics could not be read'),
  )
  app.addHook('onClose', async () => port?.close())
  return port
}

/** Serves metrics on a port of their own, never on the public one, and without the database. */
export async function serveScrapes(
  { METRICS_HOST: host, METRICS_PORT: port }: Config,
  read: ReadMetrics,
  failed: (error: unknown) => void,
): Promise<ScrapePort | undefined> {
  if (port === undefined) return undefined
  const server = createServer(
    { headersTimeout: RECEIVING_MS, requestTimeout: RECEIVING_MS, connectionsCheckingInterval: RECEIVING_MS },
    answerer(read, failed),
  )
  server.maxConnections = MOST_CONNECTIONS
  server.setTimeout(SILENCE_MS)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen({ host, port }, resolve)
  }).catch((error) => {
    throw new OperatorError(
      `Cannot listen for scrapes: ${formatError(error)}. Set METRICS_HOST or METRICS_PORT.`,
    )
  })
  return {
    ...(server.address() as AddressInfo),
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

function answerer(read: ReadMetrics, failed: (error: unknown) => void) {
  let pending: Promise<string> | undefined

  /** Concurrent scrapes share one read. */
  function scrape(): Promise<string> {
    pending ??= read().finally(() => {
      pending = undefined
    })
    return pending
  }

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url?.split('?')[0]
    if (path !== PATH) return refuse(response, new ApiError('NOT_FOUND', `There is only GET ${PATH} here.`))
    if (request.method !== 'GET') {
      const error = new ApiError('METHOD_NOT_ALLOWED', `${PATH} takes nothing but GET.`)
      return refuse(response, error.withHeader('allow', 'GET'))
    }
    try {
      const text = await scrape()
      response.writeHead(200, { 'content-type': CONTENT_TYPE }).end(text)
    } catch (error) {
      failed(error)
      refuse(response, new ApiError('INTERNAL', 'The metrics could not be read.'))
    }
  }
}

function refuse(response: ServerResponse, { status, headers, body }: ApiError): void {
  response
    .writeHead(status, { ...headers, 'content-type': 'application/json; charset=utf-8', connection: 'close' })
    .end(JSON.stringify(body))
}
