import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { buildApp } from '#src/app.ts'
import type { TestApp } from '#test/setup/app.ts'

interface Received {
  headers: IncomingHttpHeaders
  body: string
}

/** Has a subscriber on this machine, with all that it received in a test, which begins without subscriptions. */
export function openReceiver(service: TestApp) {
  const receiver = {
    url: '',
    received: [] as Received[],
    /** What it answers with from now on: a status, or nothing for as long as it is open. */
    answer: 204 as number | 'nothing',
  }
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const piece of request) body += piece
    receiver.received.push({ headers: request.headers, body })
    if (receiver.answer === 'nothing') return
    if (receiver.answer === 302) response.setHeader('location', receiver.url)
    response.writeHead(receiver.answer).end()
  })
  beforeAll(async () => {
    // Each process would have its own; here they come one after the other on one.
    service.database.statements.setMaxListeners(0)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  })
  beforeEach(async () => {
    await sql`delete from subscription`.execute(service.database.writer)
    receiver.received = []
    receiver.answer = 204
  })
  afterAll(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return receiver
}

/**
 * As long as a process of the service runs that is asked by clients, too: what others run is in the database. An error
 * of the work says what the queue has then.
 *
 * @param work may have it look whether anything is due
 */
export async function serveDuring(
  { testDatabase, database }: TestApp,
  work: (look: () => void) => Promise<unknown>,
  settings: object = {},
): Promise<void> {
  const app = await buildApp({ ...testDatabase.config, ...settings }, database)
  await app.listen({ host: '127.0.0.1', port: 0 })
  try {
    await work(() => app.jobs.wake('deliver-changes'))
  } catch (cause) {
    const { rows } = await sql`
      select now(), id, created_at, due_at, leased_until, attempts, done_at
      from webhook_delivery`.execute(database.writer)
    throw new Error(`the queue has ${JSON.stringify(rows)}: ${cause}`, { cause })
  } finally {
    await app.close()
  }
}
