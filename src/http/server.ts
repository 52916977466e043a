import { createHash } from 'node:crypto'
import type { ServerOptions } from 'node:http'
import { hostname } from 'node:os'
import { AjvCompiler } from '@fastify/ajv-compiler'
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, { type FastifyRequest, LogController } from 'fastify'
import type { Config } from '#src/config.ts'
import { isWithin } from '#src/lib/network.ts'
import { type App, logsRequests } from './app.ts'
import { AJV_OPTIONS } from './parameters.ts'
import { clientErrorHandler, frameworkErrors } from './plugins/error-handler.ts'
import { readRequestId } from './plugins/request-head.ts'

type Compile = (route: { schema?: unknown }) => unknown

/** Makes the compiler of a server from the schemas that routes refer to. */
type BuildCompiler = (shared: object, options: unknown) => Compile

/** Compiles each schema once, with the options of its first server: Fastify compiles those of errors for each route. */
export function compileOnce<Build extends object>(build: Build): Build {
  const cache = new Map<string, { compiled: Map<string, unknown>; compile: Compile | undefined }>()
  const buildOnce: BuildCompiler = (shared, options) => {
    const key = identifySchemas(shared)
    const stored = cache.get(key) ?? { compiled: new Map<string, unknown>(), compile: undefined }
    cache.set(key, stored)
    return (route) => {
      const schema = JSON.stringify(route.schema)
      const known = stored.compiled.get(schema)
      if (known) return known
      // To make one takes long, and a server like one before needs none.
      stored.compile ??= (build as BuildCompiler)(shared, options)
      const found = stored.compile(route)
      stored.compiled.set(schema, found)
      return found
    }
  }
  return buildOnce as Build
}

/** Of each schema that a server has, which all its contexts share: to compare or hash all for each takes half a second. */
const hashes = new WeakMap<object, string>()

/** A hash: the text of all schemas has half a megabyte, and there are dozens of sets. */
function identifySchemas(schemas: object): string {
  const set = createHash('sha256')
  for (const schema of Object.values(schemas)) {
    const hash = hashes.get(schema) ?? createHash('sha256').update(JSON.stringify(schema)).digest('base64')
    hashes.set(schema, hash)
    set.update(hash)
  }
  return set.digest('base64')
}

/** The servers of a process share them, as tests have: a later one takes 0.35 s of a core to be made, by itself 1.4 s. */
const COMPILERS = {
  buildSerializer: compileOnce(SerializerSelector()),
  // A pool of its own would keep the text of all schemas for each set of them.
  buildValidator: compileOnce<ReturnType<typeof AjvCompiler>>((...made) => AjvCompiler()(...made)),
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
    logger: { level: config.LOG_LEVEL, serializers: { req: describeRequest }, ...(base && { base }) },
    logController: new LogController({ disableRequestLogging: !logsRequests(config) }),
    // Any client can send X-Forwarded-For. Some proxies add a port, which Fastify's own check refuses.
    trustProxy:
      config.TRUSTED_PROXIES.length > 0 && ((address: string) => isWithin(address, config.TRUSTED_PROXIES)),
    genReqId: readRequestId,
    ajv: { customOptions: AJV_OPTIONS },
    schemaController: { compilersFactory: COMPILERS },
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

/** A request in the log of LOG_LEVEL=debug. Queries of gateways have numbers, texts and a secret. */
function describeRequest({ method, url, host, ip: remoteAddress, socket }: FastifyRequest) {
  const shown = url.includes('/messages/') ? url.replace(/\?.*/s, '?...') : url
  return { method, url: shown, host, remoteAddress, remotePort: socket?.remotePort }
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
