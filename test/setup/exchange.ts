import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import type { App } from '#src/http/app.ts'

interface RawAnswer {
  status: number
  headers: Record<string, string>
  /** What came until the service hung up. */
  all: string
  json(): Record<string, unknown>
}

/** Sends bytes as they are, which no client of HTTP would do, and reads until the service hangs up. */
export async function exchange({ server }: App, request: string): Promise<RawAnswer> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.write(request)
  const all = await text(socket)
  const [head = '', body = ''] = all.split('\r\n\r\n')
  const [first = '', ...lines] = head.split('\r\n')
  const headers = lines.map((line) => [line.split(':')[0]?.toLowerCase(), line.replace(/^.*?: /, '')])
  return {
    status: Number(first.split(' ')[1]),
    headers: Object.fromEntries(headers),
    all,
    json: () => JSON.parse(body),
  }
}
