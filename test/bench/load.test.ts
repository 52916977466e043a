import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createCleanup } from '#bench/cleanup.ts'
import { Answers } from '#bench/load/answers.ts'
import { isSuccess } from '#bench/load/client.ts'
import { type LoadGenerator, startGenerator } from '#bench/load/generator.ts'
import { askEvery } from '#bench/load/loops.ts'
import { PATIENCE } from '#test/setup/patience.ts'

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

test('asks at fixed times, though nothing is answered yet, and ends when all of it is', async () => {
  const answer: (() => void)[] = []
  const asking = askEvery(1, () => new Promise((resolve) => answer.push(resolve)), 5)
  await vi.waitFor(() => expect(answer).toHaveLength(5), PATIENCE)
  const stopped = asking.stop()
  expect(await Promise.race([stopped.then(() => 'all'), Promise.resolve('not yet')])).toBe('not yet')
  for (const resolve of answer) resolve()
  await stopped
  expect(answer).toHaveLength(5)
})

test('answers are counted by status, and their latencies where these are measured', () => {
  const answers = new Answers()
  for (let ms = 1; ms <= 100; ms++) answers.count(ms > 90 ? 503 : 200, ms)
  answers.count(0)
  expect(answers.countOf((status) => isSuccess({ status }))).toBe(90)
  expect(answers.latencies.count).toBe(100)
  expect(answers.summary()).toEqual({
    p50: expect.closeTo(50, 0),
    p99: expect.closeTo(99, 0),
    statuses: { 0: 1, 200: 90, 503: 10 },
  })
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
