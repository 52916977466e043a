import { once } from 'node:events'
import { request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import fastify from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { createClientSignal, startDeadline } from '#src/http/plugins/time-budget.ts'

test('all that waits for a client to go is told, by one listener of its response', async () => {
  const app = fastify()
  onTestFinished(() => app.close())
  const signals: AbortSignal[] = []
  let added = 0
  const asked = new Promise<ServerResponse>((resolve) => {
    app.get('/', (_, reply) => {
      const before = reply.raw.listenerCount('close')
      const ended = startDeadline(reply)
      const others = Array.from({ length: 20 }, () => startDeadline(reply).signal)
      signals.push(createClientSignal(reply), ...others, ended.signal)
      ended.end()
      added = reply.raw.listenerCount('close') - before
      reply.hijack()
      resolve(reply.raw)
    })
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const sent = request({ agent: false, port }).on('error', () => {})
  sent.end()
  const closed = once(await asked, 'close')
  sent.destroy()
  await closed
  expect(added).toBe(1)
  expect(signals.map(({ aborted }) => aborted)).toEqual([...Array(21).fill(true), false])
})
