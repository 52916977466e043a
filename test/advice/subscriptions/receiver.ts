import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What a receiver was sent. */
export interface Received {
  headers: IncomingHttpHeaders
  body: string
}

export interface Receiver {
  url: string
  received: Received[]
  /** What it answers with from now on: a status, or nothing for as long as it is open. */
  answer: number | 'nothing'
  close(): Promise<void>
}

/** Somebody who is told of changes. */
export async function startReceiver(): Promise<Receiver> {
  const receiver: Receiver = { url: '', received: [], answer: 204, close: async () => {} }
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const piece of request) body += piece
    receiver.received.push({ headers: request.headers, body })
    if (receiver.answer === 'nothing') return
    if (receiver.answer === 302) response.setHeader('location', receiver.url)
    response.writeHead(receiver.answer).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  receiver.close = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return receiver
}
