import { once } from 'node:events'
import { connect } from 'node:net'
import Fastify from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sendAtEnd } from '#src/http/request.ts'
import { createEventLoopQueue } from '#src/lib/limiter.ts'

/** What has happened, in order: requests looked up, and answers sent. */
const events: string[] = []
const app = Fastify().decorate('slices', createEventLoopQueue(0))
app.get('/:name', (request, reply) => {
  const { name } = request.params as { name: string }
  events.push(`looked up ${name}`)
  sendAtEnd(reply, () => {
    events.push(`sent ${name}`)
    if (name === 'broken') throw new Error('it cannot be sent')
    reply.send(name)
  })
  if (name === 'gone') request.raw.socket.destroy()
})
beforeAll(() => app.listen({ host: '127.0.0.1', port: 0 }))
afterAll(() => app.close())

test('what is asked for in one turn is answered together, after all of it has been looked up', async () => {
  events.length = 0
  const answers = await Promise.all(['a', 'b', 'c'].map((name) => app.inject(`/${name}`)))
  expect(answers.map(({ body }) => body)).toEqual(['a', 'b', 'c'])
  expect(events).toEqual(['looked up a', 'looked up b', 'looked up c', 'sent a', 'sent b', 'sent c'])
})

test('an answer that cannot be sent is an error of its request alone', async () => {
  const answers = await Promise.all(['a', 'broken', 'c'].map((name) => app.inject(`/${name}`)))
  expect(answers.map(({ statusCode, body }) => (statusCode === 200 ? body : statusCode))).toEqual([
    'a',
    500,
    'c',
  ])
})

test('requests that one connection sends at once are answered in their order', async () => {
  const { port } = app.server.address() as { port: number }
  const socket = connect(port, '127.0.0.1').setEncoding('latin1')
  await once(socket, 'connect')
  const names = Array.from({ length: 50 }, (_, index) => `n${index}`)
  socket.write(names.map((name) => `GET /${name} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''))
  let text = ''
  while ((text.match(/\r\n\r\nn\d+/g) ?? []).length < names.length) {
    const [chunk] = await once(socket, 'data')
    text += chunk
  }
  socket.destroy()
  expect([...text.matchAll(/\r\n\r\n(n\d+?)(?=HTTP|$)/g)].map(([, name]) => name)).toEqual(names)
})

test('a client that has gone by then harms nobody', async () => {
  const { port } = app.server.address() as { port: number }
  events.length = 0
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.on('error', () => {})
  socket.write('GET /gone HTTP/1.1\r\nHost: x\r\n\r\n')
  await once(socket, 'close')
  expect(events).toEqual(['looked up gone', 'sent gone'])
  expect((await app.inject('/a')).body).toBe('a')
})
