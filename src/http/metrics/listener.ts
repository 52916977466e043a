import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Config } from '#src/config.ts'
import { ApiError, OperatorError } from '#src/errors.ts'
import { messageOf } from '#src/lib/promises.ts'
import type { App } from '../app.ts'

const PATH = '/metrics'

/** The text form of Prometheus, as `prom-client` calls it. */
const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** A scraper has one connection, and some may look by hand. */
const MOST_CONNECTIONS = 20

/** A request has no body, and its headers are short; an answer has some hundred kilobytes. */
const RECEIVING_MS = 5000
const SILENCE_MS = 30_000

/** Where the metrics are served. */
interface ScrapePort extends AddressInfo {
  close(): void
}

/** Reads all metrics, as text. */
type ReadMetrics = () => Promise<string>

/**
 * Serves the metrics on METRICS_PORT until the service closes, where that is set.
 *
 * @returns where it listens; undefined where it does not
 * @throws {OperatorError} where it cannot
 */
export async function listenForScrapes(app: App): Promise<ScrapePort | undefined> {
  if (app.config.METRICS_PORT === undefined) return undefined
  // Who does not look at the service from outside does not pay for it.
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

/**
 * The same for metrics that are read in some way: never on the port that is open to the public. Nothing of it waits
 * for the database.
 *
 * @param failed told why they could not be read
 */
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
      `Cannot listen for scrapes: ${messageOf(error)}. Set METRICS_HOST or METRICS_PORT.`,
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
  let underWay: Promise<string> | undefined

  /** Those who ask at the same time are told the same. */
  function scrape(): Promise<string> {
    underWay ??= read().finally(() => {
      underWay = undefined
    })
    return underWay
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
