import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { flood } from '#abuse/attacks.ts'
import { judge, type Outcome } from '#abuse/judge.ts'
import type { Noticed } from '#abuse/victims/victims.ts'
import type { Client } from '#bench/load/client.ts'

test('a flood has as many requests under way as it has connections, from its own address', async () => {
  const waiting: ServerResponse[] = []
  let resolve = () => {}
  const three = new Promise<void>((done) => {
    resolve = done
  })
  const seen = new Set<string>()
  const { client } = await served(({ headers, socket }, response) => {
    seen.add(`${socket.remoteAddress} ${headers.authorization}`)
    waiting.push(response)
    if (waiting.length === 3) resolve()
  })
  const attack = flood([client], 3, () => ({ method: 'GET', path: '/' }))
  await three
  const stopped = attack.stop()
  for (const response of waiting) response.end()
  await stopped
  expect(waiting).toHaveLength(3)
  expect([...seen]).toEqual(['127.66.0.1 Bearer secret'])
  expect(attack.answers.statuses).toEqual({ 200: 3 })
})

const NOTICED: Noticed = { asked: 300, answered: 300, p50: 2, p99: 10, statuses: { 200: 300 } }

/** An attack that points notice so much of. */
function outcome(point: Partial<Noticed>, figures: Outcome['figures'] = []): Outcome {
  const quiet = { point: NOTICED } as Outcome['quiet']
  const attacked = { point: { ...NOTICED, ...point } } as Outcome['attacked']
  return { scenario: 'stars', database: 'server', quiet, attacked, figures }
}

test.each([
  ['it is as slow as it may be', { p99: 60 }, true],
  ['it is slower than that', { p99: 61 }, false],
  ['somebody is refused', { answered: 299, statuses: { 200: 299, 503: 1 } }, false],
])('where %s, an attack on points passes or not: %o', (_, noticed, pass) => {
  expect(judge(outcome(noticed))).toMatchObject([{ what: 'point', pass }])
})

/** A server, and a client of it at an address of its own. */
async function served(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(answer)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const client: Client = { port, address: '127.66.0.1', token: 'secret' }
  return { server, client }
}
