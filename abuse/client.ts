import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { connect, type Socket } from 'node:net'

export interface Reply {
  status: number
  headers: IncomingHttpHeaders
  body: string
  ms: number
}

/** Somebody at an address of this machine, with a token or without. */
export interface Client {
  port: number
  /** Of 127.0.0.0/8, where each address is a network of its own for the service. */
  address: string
  token: string | undefined
  email: string
  password: string
}

const AGENTS = new Map<string, Agent>()

/** Connections that stay open, of one address. */
function agentOf(address: string): Agent {
  const agent = AGENTS.get(address) ?? new Agent({ keepAlive: true })
  AGENTS.set(address, agent)
  return agent
}

export interface Sent {
  method?: string
  path: string
  body?: string
  headers?: Record<string, string>
}

/** Asks as a client; what fails without an answer has the status 0. */
export function ask(client: Client, { method = 'POST', path, body, headers = {} }: Sent): Promise<Reply> {
  const { port, address, token } = client
  const started = performance.now()
  return new Promise((resolve) => {
    const done = (status: number, text = '', received: IncomingHttpHeaders = {}) =>
      resolve({ status, headers: received, body: text, ms: performance.now() - started })
    const sent = request(
      {
        host: '127.0.0.1',
        port,
        path,
        method,
        localAddress: address,
        agent: agentOf(address),
        headers: {
          ...(body !== undefined && {
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(body),
          }),
          ...(token && { authorization: `Bearer ${token}` }),
          ...headers,
        },
      },
      (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk) => {
          text += chunk
        })
        response.once('end', () => done(response.statusCode ?? 0, text, response.headers))
        response.once('error', () => done(0))
      },
    )
    sent.once('error', () => done(0))
    sent.end(body)
  })
}

/** The bytes of a request. */
export function written(
  { token }: Client,
  { method = 'POST', path, body = '' }: Sent,
  length = Buffer.byteLength(body),
): Buffer {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Content-Type: application/json',
    `Content-Length: ${length}`,
    ...(token ? [`Authorization: Bearer ${token}`] : []),
  ]
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`)
}

/**
 * Opens a connection and sends bytes over it.
 *
 * @param reads whether what comes is read, and thrown away; where not, the most of a success is the service's to keep
 */
export function open({ port, address }: Client, bytes: Buffer, reads: boolean): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, localAddress: address, noDelay: true })
    if (reads) socket.resume()
    else {
      socket.once('data', (first) => {
        socket.pause()
        // Whoever is turned away holds nothing.
        if (!/^HTTP\/1\.1 2/.test(first.toString('latin1'))) socket.destroy()
      })
    }
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.off('error', reject)
      // Being cut off is what an attacker has to expect.
      socket.on('error', () => {})
      socket.write(bytes)
      resolve(socket)
    })
  })
}
