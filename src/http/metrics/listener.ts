import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Registry } from 'prom-client'
import { ApiError, OperatorError } from '#src/errors.ts'
import { messageOf } from '#src/lib/caught.ts'
import type { App } from '../app.ts'

const PATH = '/metrics'

/** A scraper has one connection, and some may look by hand. */
const MOST_CONNECTIONS = 20

/** A request has no body, and its headers are short; an answer has some hundred kilobytes. */
const RECEIVING_MS = 5000
const SILENCE_MS = 30_000

/**
 * Serves the metrics on METRICS_PORT until the service closes, where that is set: never on the port that is open to
 * the public. Nothing of it waits for the database.
 *
 * @returns where it listens; undefined where it does not
 * @throws {OperatorError} where it cannot
 */
export async function listenForScrapes(app: App): Promise<AddressInfo | undefined> {
  const { METRICS_HOST: host, METRICS_PORT: port } = app.config
  if (port === undefined) return undefined
  // Who does not look at the service from outside does not pay for it.
  const { createRegistry } = await import('./registry.ts')
  const server = createServer(
    { headersTimeout: RECEIVING_MS, requestTimeout: RECEIVING_MS, connectionsCheckingInterval: RECEIVING_MS },
    answerer(createRegistry(app.metrics), app),
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
  app.addHook('onClose', async () => {
    server.close()
    server.closeAllConnections()
  })
  return server.address() as AddressInfo
}

function answerer(registry: Registry, app: App) {
  let underWay: Promise<string> | undefined

  /** Those who ask at the same time are told the same. */
  function scrape(): Promise<string> {
    underWay ??= registry.metrics().finally(() => {
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
      response.writeHead(200, { 'content-type': registry.contentType }).end(text)
    } catch (error) {
      app.log.error({ err: error }, 'the metrics could not be read')
      refuse(response, new ApiError('INTERNAL', 'The metrics could not be read.'))
    }
  }
}

function refuse(response: ServerResponse, { status, headers, body }: ApiError): void {
  response
    .writeHead(status, { ...headers, 'content-type': 'application/json; charset=utf-8', connection: 'close' })
    .end(JSON.stringify(body))
}
