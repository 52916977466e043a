import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createCleanup } from '#bench/cleanup.ts'
import { type LoadGenerator, startGenerator } from '#bench/load/generator.ts'

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
