import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { createCleanup } from '#bench/cleanup.ts'
import { type LoadGenerator, startGenerator } from '#bench/load/generator.ts'
import { Histogram } from '#bench/load/histogram.ts'

test('the histogram’s quantiles are those of the sorted latencies, to within one part in 128', () => {
  const latency = fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 2 ** 32 - 1 }))
  fc.assert(
    fc.property(
      fc.array(latency, { minLength: 1, maxLength: 300 }),
      fc.constantFrom(0, 0.5, 0.99, 1),
      (latencies, part) => {
        const histogram = new Histogram()
        for (const microseconds of latencies) histogram.record(microseconds)
        const sorted = latencies.toSorted((a, b) => a - b)
        const exact = sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] as number
        expect(Math.abs(histogram.quantile(part) * 1000 - exact)).toBeLessThanOrEqual(0.5 + exact / 128)
        expect(histogram.count).toBe(latencies.length)
      },
    ),
  )
})

interface Loaded {
  generator: LoadGenerator
  port: number
  bodies: string[]
}

/** A server that keeps what it was sent, and the generator in a process of its own. */
async function loaded(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<Loaded> {
  const bodies: string[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text) => {
      body += text
    })
    request.on('end', () => {
      bodies.push(body)
      answer(request, response)
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const cleanup = createCleanup()
  cleanup.add(() => server.close())
  onTestFinished(() => cleanup.run())
  return { generator: startGenerator(cleanup), port: (server.address() as AddressInfo).port, bodies }
}

test('sends each request of a list once, and counts the answers by status', async () => {
  let count = 0
  const { generator, port, bodies } = await loaded((_, response) => {
    response.statusCode = ++count % 4 === 0 ? 404 : 200
    // Longer than one read, and in pieces that end anywhere.
    const answer = 'ä'.repeat(50_000 + count)
    response.setHeader('content-length', Buffer.byteLength(answer))
    response.write(answer.slice(0, 7))
    setImmediate(() => response.end(answer.slice(7)))
  })
  const sent = Array.from({ length: 40 }, (_, index) => JSON.stringify({ name: `Żółw ${index}` }))
  await generator.prepare({ list: 'all', paths: ['/'], bodies: sent })
  const result = await generator.run({ port, list: 'all', order: 'once', connections: 3, seconds: 0 })
  expect(result.statuses).toEqual({ 200: 30, 404: 10 })
  expect(bodies.toSorted()).toEqual(sent.toSorted())
})

test('a list for several paths sends each body to each of them, as the caller whose token it has', async () => {
  const sent: string[] = []
  const { generator, port } = await loaded(({ url, headers }, response) => {
    sent.push(`${url} ${headers.authorization}`)
    response.setHeader('content-length', 2).end('{}')
  })
  const run = { port, list: 'all', order: 'once', connections: 1, seconds: 0 } as const
  await generator.prepare({ list: 'all', paths: ['/a', '/b'], bodies: ['{}', '{}'], token: 'secret' })
  await generator.run(run)
  expect(sent.splice(0)).toEqual([
    '/a Bearer secret',
    '/b Bearer secret',
    '/a Bearer secret',
    '/b Bearer secret',
  ])
  await generator.prepare({ list: 'all', paths: ['/a'], bodies: ['{}'] })
  await generator.run(run)
  expect(sent).toEqual(['/a undefined'])
})
