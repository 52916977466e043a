import type { ServerOptions } from 'node:http'
import { hostname } from 'node:os'
import type { RouteDefinition, Serializer } from '@fastify/fast-json-stringify-compiler'
import buildSerializers from '@fastify/fast-json-stringify-compiler'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, { LogController } from 'fastify'
import type { Config } from '#src/config.ts'
import { isDebugged } from '#src/lib/log-levels.ts'
import { isWithin } from '#src/lib/network.ts'
import { type App, logsAnyRequests } from './app.ts'
import { clientErrorHandler, frameworkErrors } from './plugins/error-handler.ts'
import { requestIdOf } from './plugins/request-id.ts'
import { AJV_OPTIONS } from './validation.ts'

/**
 * Compiles what writes answers, once for each schema: most routes answer errors by the same few. Fastify would have those of
 * every route compiled anew, which took more than a second of a start.
 */
export function serializersOncePerSchema(): ReturnType<typeof buildSerializers> {
  const build = buildSerializers()
  /** By the schemas that others refer to, then by their own. */
  const kept = new Map<string, Map<string, Serializer>>()
  return (sharedSchemas, options) => {
    const compile = build(sharedSchemas, options)
    const shared = JSON.stringify(sharedSchemas)
    const serializers = kept.get(shared) ?? new Map<string, Serializer>()
    kept.set(shared, serializers)
    return (route: RouteDefinition) => {
      const schema = JSON.stringify(route.schema)
      const serializer = serializers.get(schema) ?? compile(route)
      serializers.set(schema, serializer)
      return serializer
    }
  }
}

/**
 * How long idle connections are kept: longer than balancers keep them, which is a minute as a rule. Who sends requests
 * over a connection has to be who ends it.
 */
const KEEP_ALIVE_MS = 72_000

/** How often Node looks for requests whose headers do not come. */
const HEADERS_CHECK_MS = 5000

/** What Node keeps of a body that nobody reads yet: its own default grows with its versions. */
export const SOCKET_BUFFER_BYTES = 16_384

/**
 * Makes the server without any route.
 *
 * @param worker the number of the process where it answers beside others: told with each line of the log
 */
export function createServer(config: Config, worker: number | undefined): App {
  const base = worker === undefined ? undefined : { pid: process.pid, hostname: hostname(), worker }
  return Fastify({
    logger: { level: config.LOG_LEVEL, ...(base && { base }) },
    logController: new LogController({
      disableRequestLogging: !logsAnyRequests(config) || (({ log }) => !isDebugged(log.level)),
    }),
    // Only these may say on whose behalf they ask: anybody can write X-Forwarded-For.
    // Some write the port behind an address, which Fastify's own comparison takes for no address.
    trustProxy:
      config.TRUSTED_PROXIES.length > 0 && ((address: string) => isWithin(address, config.TRUSTED_PROXIES)),
    genReqId: requestIdOf,
    ajv: { customOptions: AJV_OPTIONS },
    schemaController: { compilersFactory: { buildSerializer: serializersOncePerSchema() } },
    // Answers are told apart by the same rules where they can be of several kinds.
    serializerOpts: { ajv: { formats: AJV_OPTIONS.formats, keywords: AJV_OPTIONS.keywords } },
    clientErrorHandler,
    frameworkErrors,
    // What is under way while the service closes is answered; readiness says that it is closing.
    return503OnClosing: false,
    keepAliveTimeout: KEEP_ALIVE_MS,
    http: serverOptions(config),
  }).withTypeProvider<TypeBoxTypeProvider>()
}

function serverOptions({ SLOW_CLIENT_MS }: Config): ServerOptions {
  return {
    // See the plugin hostHeader.
    requireHostHeader: false,
    // Bodies have no deadline but their pace: see the plugin connections.
    headersTimeout: SLOW_CLIENT_MS,
    connectionsCheckingInterval: Math.min(HEADERS_CHECK_MS, SLOW_CLIENT_MS),
    highWaterMark: SOCKET_BUFFER_BYTES,
  }
}
