import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { App } from '#src/http/app.ts'
import { headersOf, type Sent } from './calls.ts'

/** Sends a request such as `GET /stats` over a connection of its own, to a service that listens. */
export function begin(app: App, named: string, { by, headers, payload }: Sent): ClientRequest {
  const [method, path] = named.split(' ')
  const { port } = app.server.address() as AddressInfo
  const sent = request({ agent: false, port, method, path, headers: { ...headersOf(by), ...headers } })
  // Whoever goes away is told so.
  sent.on('error', () => {})
  return sent.end(payload as string | undefined)
}

/** The answer as soon as it begins, and the service's end of its connection. */
export async function beginAnswer(
  app: App,
  named: string,
  sent: Sent,
): Promise<{ response: IncomingMessage; socket: Socket }> {
  const connected = once(app.server, 'connection')
  const [response] = await once(begin(app, named, sent), 'response')
  const [socket] = await connected
  return { response, socket }
}
