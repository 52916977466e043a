import {
  type Context,
  context,
  ProxyTracerProvider,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { VERSION } from '#src/lib/version.ts'
import type { App } from '../app.ts'
import type { Exchange } from '../exchange.ts'
import { findRoutePattern, UNKNOWN_PATH } from '../request.ts'
import { whenOver } from './time-budget.ts'

const NAME = 'agro-advisory'

/** Makes a span of each request with a preloaded SDK. Spans go to other machines: they have no paths and queries. */
export const tracing = fp(
  async (app: App) => {
    if (!hasSdk()) return
    const tracer = trace.getTracer(NAME, VERSION)
    const traced = new WeakMap<FastifyRequest, Context>()

    app.addHook('onRequest', (request, reply, done) => {
      if (app.warmingUp) return done()
      const parent = findParent(request)
      const span = beginSpan(tracer, request, parent, app.config.BASE_PATH)
      const { traceId, spanId } = span.spanContext()
      request.log = request.log.child({ trace_id: traceId, span_id: spanId })
      reply.log = request.log
      const inside = trace.setSpan(parent, span)
      traced.set(request, inside)
      whenOver(request.exchange, () => endSpan(span, request.exchange))
      context.with(inside, done)
    })
    app.addHook('preValidation', (request, _reply, done) => {
      // Bodies arrive by events of the socket, outside the context.
      context.with(traced.get(request) ?? context.active(), done)
    })
  },
  { name: 'tracing', dependencies: ['error-handler', 'warm-up-requests'] },
)

/** The API alone makes no spans. */
function hasSdk(): boolean {
  const provider = trace.getTracerProvider()
  return !(provider instanceof ProxyTracerProvider) || provider.getDelegateTracer(NAME) !== undefined
}

/** A span of an instrumentation of Node's HTTP, or the headers. */
function findParent({ headers }: FastifyRequest): Context {
  const active = context.active()
  return trace.getSpan(active) ? active : propagation.extract(active, headers)
}

function beginSpan(tracer: Tracer, request: FastifyRequest, parent: Context, base: string): Span {
  const { is404, method, routeOptions, id } = request
  const { route } = is404 ? UNKNOWN_PATH : findRoutePattern(routeOptions, base)
  const isInside = trace.getSpan(parent)?.isRecording() === true
  return tracer.startSpan(
    `${method} ${route}`,
    {
      kind: isInside ? SpanKind.INTERNAL : SpanKind.SERVER,
      attributes: { 'http.request.method': method, 'http.route': route, 'agro.request_id': id },
    },
    parent,
  )
}

function endSpan(span: Span, { request, reply: { statusCode, raw } }: Exchange): void {
  // A client that has gone may have no answer.
  if (raw.headersSent) span.setAttribute('http.response.status_code', statusCode)
  if (request.errorCode) span.setAttribute('error.type', request.errorCode)
  // Errors of clients are no errors of the span.
  if (raw.headersSent && statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
  span.end()
}
