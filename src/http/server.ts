import { createHash } from 'node:crypto'
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

/** Makes the compiler of a server from the schemas that its routes share. */
type BuildCompiler = (shared: Record<string, object>, options: unknown) => Compile
type Compile = (route: { schema: object }) => Compiled
type Compiled = ((...given: unknown[]) => unknown) & { errors?: unknown }

/**
 * Compiles each schema once, when it is first used, with the options of its first server: Fastify compiles those of errors for
 * each route, and a service uses few of a thousand in its first seconds.
 */
export function compileOnce<Build extends object>(build: Build): Build {
  const compiled = new Map<string, Compiled>()
  const buildOnce: BuildCompiler = (shared, options) => (route) => {
    const referred = findReferred(shared, route.schema)
    const key = [route.schema, ...Object.values(referred)].map((schema) => readSchema(schema).hash).join()
    const found = compiled.get(key) ?? compileLater(() => (build as BuildCompiler)(referred, options)(route))
    compiled.set(key, found)
    return found
  }
  return buildOnce as Build
}

function compileLater(compile: () => Compiled): Compiled {
  let compiled: Compiled | undefined
  const run: Compiled = (...given) => {
    compiled ??= compile()
    const answer = compiled(...given)
    run.errors = compiled.errors
    return answer
  }
  // By this Fastify knows the validators of Ajv, which it gives the object whose value they may replace.
  return Object.assign(run, { schemaEnv: true })
}

/** The shared schemas that one refers to, and those that these do: a compiler reads all that it is given, each time. */
function findReferred(shared: Record<string, object>, schema: object, found: Record<string, object> = {}) {
  for (const name of readSchema(schema).names) {
    const next = shared[name]
    if (next && !(name in found)) findReferred(shared, next, Object.assign(found, { [name]: next }))
  }
  return found
}

/** By the object: contexts of a server share its schemas, and none is changed once it is registered. */
const readings = new WeakMap<object, { hash: string; names: string[] }>()

/** The hash of a schema's text, and the names of those that it refers to. */
function readSchema(schema: object) {
  const known = readings.get(schema)
  if (known) return known
  const text = JSON.stringify(schema)
  const hash = createHash('sha256').update(text).digest('base64')
  const found = { hash, names: [...text.matchAll(/"\$ref":"([^"#]+)/g)].map(([, name = '']) => name) }
  readings.set(schema, found)
  return found
}

/** The servers of a process share them, as tests have. */
const COMPILERS = {
  buildSerializer: compileOnce(SerializerSelector()),
  buildValidator: compileOnce(AjvCompiler()),
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
    http: {
      // See the plugin hostHeader.
      requireHostHeader: false,
      // Bodies have a pace: see the plugin connections.
      headersTimeout: config.SLOW_CLIENT_MS,
      connectionsCheckingInterval: Math.min(HEADERS_CHECK_MS, config.SLOW_CLIENT_MS),
      highWaterMark: SOCKET_BUFFER_BYTES,
    },
  }).withTypeProvider<TypeBoxTypeProvider>()
}

/** A request in the log of LOG_LEVEL=debug. Queries of gateways have numbers, texts and a secret. */
function describeRequest({ method, url, host, ip: remoteAddress, socket }: FastifyRequest) {
  const shown = url.includes('/messages/') ? url.replace(/\?.*/s, '?...') : url
  return { method, url: shown, host, remoteAddress, remotePort: socket?.remotePort }
}
