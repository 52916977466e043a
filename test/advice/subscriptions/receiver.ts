import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Receiver = Awaited<ReturnType<typeof startReceiver>>

/** A subscriber on this machine, with all that it received. */
export async function startReceiver() {
  const receiver = {
    url: '',
    received: [] as { headers: IncomingHttpHeaders; body: string }[],
    /** What it answers with from now on: a status, or nothing for as long as it is open. */
    answer: 204 as number | 'nothing',
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
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
  return receiver
}
