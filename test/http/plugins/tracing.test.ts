import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { captureLog } from '#test/setup/log.ts'
import { createProxiedApp } from '#test/setup/proxied-app.ts'

const POINT = '/advisory/fertilizer/point'
const AT = { lat: 9.5, lng: 38.5, crop: 'wheat', country_code: 'eth' }
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const CALLER = '00f067aa0ba902b7'
const traceparent = `00-${TRACE}-${CALLER}-01`

describe('with an SDK of OpenTelemetry', () => {
  const exporter = new InMemorySpanExporter()
  let service: TestApp
  let log: string[]
  let url: string
  let heldIsAsked: Promise<void>

  beforeAll(async () => {
    new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register()
    service = await createTestApp({ settings: { LOG_LEVEL: 'info', ACCESS_LOG: 'true', BASE_PATH: '/agro' } })
    log = captureLog(service.app)
    service.app.post('/probe', { config: { public: true } }, async () => {
      await service.database.writer.selectFrom('country').select('code').limit(1).execute()
      return trace.getActiveSpan()?.spanContext() ?? {}
    })
    heldIsAsked = new Promise((resolve) => {
      service.app.get('/held', { config: { public: true, takesOwnPermit: true } }, () => {
        resolve()
        return new Promise(() => {})
      })
    })
    url = await service.app.listen({ port: 0 })
  })
  beforeEach(() => {
    exporter.reset()
    log.length = 0
  })
  afterAll(async () => {
    await service.close()
    trace.disable()
    context.disable()
    propagation.disable()
  })

  test('a request and its line of the log go on with the trace of its traceparent, by its route', async () => {
    const headers = { traceparent, 'x-request-id': 'from-the-proxy' }
    await service.post(`/agro${POINT}?lng=38.5`, { payload: AT, headers })
    const [span, ...others] = exporter.getFinishedSpans()
    expect(others).toEqual([])
    const ids = { trace_id: TRACE, span_id: span?.spanContext().spanId }
    expect(log.map((line) => JSON.parse(line))).toMatchObject([{ msg: 'answered', ...ids }])
    expect([span?.name, span?.kind]).toEqual([`POST ${POINT}`, SpanKind.SERVER])
    expect(span?.spanContext().traceId).toBe(TRACE)
    expect(span?.parentSpanContext?.spanId).toBe(CALLER)
    expect(span?.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': POINT,
      'http.response.status_code': 200,
      'agro.request_id': 'from-the-proxy',
    })
  })

  test('made-up paths without a traceparent are one name, and no sentence of a mistake is told', async () => {
    await service.get('/agro/token-of-a-mail?lat=9.5')
    await service.post(`/agro${POINT}`, { payload: { ...AT, lat: 91.25 } })
    const [unknown, mistaken] = exporter.getFinishedSpans()
    expect([unknown?.name, unknown?.parentSpanContext]).toEqual(['GET unknown', undefined])
    expect(mistaken?.attributes).toMatchObject({
      'http.response.status_code': 400,
      'error.type': 'INVALID_PARAMETERS',
    })
    // It is no error of ours.
    expect(mistaken?.status).toEqual({ code: SpanStatusCode.UNSET })
    const told = [unknown, mistaken].map((span) => [span?.attributes, span?.events, span?.status])
    expect(JSON.stringify(told)).not.toMatch(/token|9\.5|91\.25/)
  })

  test('what a handler does after its body has come, and after a query, is within the span', async () => {
    const headers = { traceparent, 'content-type': 'application/json' }
    const body = JSON.stringify({ long: 'x'.repeat(5000) })
    const response = await fetch(`${url}/probe`, { method: 'POST', headers, body })
    const inside = await response.json()
    await expect.poll(() => exporter.getFinishedSpans().length).toBe(1)
    const [span] = exporter.getFinishedSpans()
    expect(inside).toMatchObject({ traceId: TRACE, spanId: span?.spanContext().spanId })
  })

  test('a request whose client goes away has its span, without a status', async () => {
    const leaving = new AbortController()
    heldIsAsked.then(() => leaving.abort())
    await expect(fetch(`${url}/held`, { signal: leaving.signal })).rejects.toThrow('aborted')
    await expect.poll(() => exporter.getFinishedSpans().map(({ name }) => name)).toEqual(['GET /held'])
    const [span] = exporter.getFinishedSpans()
    expect(span?.attributes).not.toHaveProperty('http.response.status_code')
  })

  test('inside the span of an instrumentation of HTTP there is no second one for the server', async () => {
    const outer = trace.getTracer('http').startSpan('outer', { kind: SpanKind.SERVER })
    await context.with(trace.setSpan(context.active(), outer), async () => {
      await service.get('/agro/health/live')
    })
    outer.end()
    const [inner] = exporter.getFinishedSpans()
    expect(inner?.kind).toBe(SpanKind.INTERNAL)
    expect(inner?.parentSpanContext?.spanId).toBe(outer.spanContext().spanId)
  })

  test('an error of ours is one', async () => {
    const { app, proxy, close } = await createProxiedApp()
    onTestFinished(close)
    await proxy.cut()
    expect((await app.inject('/health/ready')).statusCode).toBe(503)
    const [span] = exporter.getFinishedSpans()
    expect(span?.status).toEqual({ code: SpanStatusCode.ERROR })
    expect(span?.attributes['error.type']).toBe('DATABASE_UNAVAILABLE')
  })
})
