import type { ServerOptions } from 'node:http'
import { hostname } from 'node:os'
import type { RouteDefinition, Serializer } from '@fastify/fast-json-stringify-compiler'
import buildSerializers from '@fastify/fast-json-stringify-compiler'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, { LogController } from 'fastify'
import type { Config } from '#src/config.ts'
import { isWithin } from '#src/lib/network.ts'
import { type App, logsRequests } from './app.ts'
import { AJV_OPTIONS } from './parameters.ts'
import { clientErrorHandler, frameworkErrors } from './plugins/error-handler.ts'
import { readRequestId } from './plugins/request-head.ts'

/** Compiles one serializer for each schema: Fastify compiles those of errors for each route, in more than a second. */
export function serializersOncePerSchema(): ReturnType<typeof buildSerializers> {
  const build = buildSerializers()
  const cache = new Map<string, Map<string, Serializer>>()
  return (sharedSchemas, options) => {
    const compile = build(sharedSchemas, options)
    const shared = JSON.stringify(sharedSchemas)
    const serializers = cache.get(shared) ?? new Map<string, Serializer>()
    cache.set(shared, serializers)
    return (route: RouteDefinition) => {
      const schema = JSON.stringify(route.schema)
      const serializer = serializers.get(schema) ?? compile(route)
      serializers.set(schema, serializer)
      return serializer
    }
  }
}

/** Longer than the idle time of balancers, a minute as a rule: the sender of requests should end a connection. */
const KEEP_ALIVE_MS = 72_000

/** Time between two checks for slow headers. */
const HEADERS_CHECK_MS = 5000

/** Buffer of an unread body: the default of Node grows with its versions. */
const SOCKET_BUFFER_BYTES = 16_384

/** @param worker number of the process among several, in each line of the log */
export function createServer(config: Config, worker: number | undefined): App {
  const base = worker === undefined ? undefined : { pid: process.pid, hostname: hostname(), worker }
  return Fastify({
    logger: { level: config.LOG_LEVEL, ...(base && { base }) },
    logController: new LogController({ disableRequestLogging: !logsRequests(config) }),
    // Any client can send X-Forwarded-For. Some proxies add a port, which Fastify's own check refuses.
    trustProxy:
      config.TRUSTED_PROXIES.length > 0 && ((address: string) => isWithin(address, config.TRUSTED_PROXIES)),
    genReqId: readRequestId,
    ajv: { customOptions: AJV_OPTIONS },
    schemaController: { compilersFactory: { buildSerializer: serializersOncePerSchema() } },
    // The rules that choose among several schemas of an answer.
    serializerOpts: { ajv: { formats: AJV_OPTIONS.formats, keywords: AJV_OPTIONS.keywords } },
    clientErrorHandler,
    frameworkErrors,
    // Requests during the close are answered; readiness fails then.
    return503OnClosing: false,
    keepAliveTimeout: KEEP_ALIVE_MS,
    http: serverOptions(config),
  }).withTypeProvider<TypeBoxTypeProvider>()
}

function serverOptions({ SLOW_CLIENT_MS }: Config): ServerOptions {
  return {
    // See the plugin hostHeader.
    requireHostHeader: false,
    // Bodies have a pace: see the plugin connections.
    headersTimeout: SLOW_CLIENT_MS,
    connectionsCheckingInterval: Math.min(HEADERS_CHECK_MS, SLOW_CLIENT_MS),
    highWaterMark: SOCKET_BUFFER_BYTES,
  }
}
