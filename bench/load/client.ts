import { randomUUID } from 'node:crypto'
import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { connect, type Socket } from 'node:net'

export interface Reply {
  /** 0 where there was no answer. */
  status: number
  headers: IncomingHttpHeaders
  body: string
  ms: number
  /** Why there was no answer: the code of the system, or a message. */
  failure?: string
}

/** Somebody who asks a service of this machine, with a token or without. */
export interface Client {
  port: number
  /** Of 127.0.0.0/8, where each address is a network of its own for the service. */
  address?: string
  token?: string | undefined
}

/** What somebody logs in with. */
export interface Credentials {
  email: string
  password: string
}

/** Somebody who has an account, and has logged in. */
export interface Member extends Client, Credentials {
  token: string
  refreshToken: string
}

export interface Sent {
  method?: string
  path: string
  /** JSON, written out or not. */
  body?: string | object | undefined
  headers?: Record<string, string>
}

/** Longer than a service may take for anything. */
const GIVEN_UP_MS = 60_000

const AGENTS = new Map<string, Agent>()

/** Connections that stay open, of one address. */
function agentOf(address = ''): Agent {
  const agent = AGENTS.get(address) ?? new Agent({ keepAlive: true })
  AGENTS.set(address, agent)
  return agent
}

/** Asks as a client over one of its connections. */
export function ask(
  { port, address, token }: Client,
  { method = 'POST', path, body, headers }: Sent,
  givenUpMs = GIVEN_UP_MS,
): Promise<Reply> {
  const text = textOf(body)
  const started = performance.now()
  return new Promise((resolve) => {
    const done = (reply: Omit<Reply, 'ms'>) => resolve({ ...reply, ms: performance.now() - started })
    const fail = ({ code, message }: NodeJS.ErrnoException) =>
      done({ status: 0, headers: {}, body: '', failure: code ?? message })
    const sent = request(
      {
        host: '127.0.0.1',
        port,
        path,
        method,
        localAddress: address,
        agent: agentOf(address),
        headers: {
          ...(text && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
          ...(token && { authorization: `Bearer ${token}` }),
          ...headers,
        },
      },
      (response) => {
        const { statusCode: status = 0, headers } = response
        let received = ''
        response.setEncoding('utf8').on('data', (chunk) => {
          received += chunk
        })
        response.once('end', () => done({ status, headers, body: received }))
        response.once('error', fail)
      },
    )
    const late = setTimeout(() => sent.destroy(new Error(`no answer within ${givenUpMs} ms`)), givenUpMs)
    sent.once('close', () => clearTimeout(late))
    sent.once('error', fail)
    sent.end(text)
  })
}

function textOf(body: Sent['body']): string | undefined {
  return typeof body === 'object' ? JSON.stringify(body) : body
}

/** The fields of the answer to a request that has to succeed. */
export async function fieldsOf(client: Client, sent: Sent): Promise<Record<string, string>> {
  const { status, body } = await ask(client, sent)
  if (status < 200 || status > 299) throw new Error(`${sent.path} was answered ${status} ${body}`)
  return JSON.parse(body)
}

/** Makes an account. */
export async function register(client: Client): Promise<Credentials> {
  const credentials = { email: `${randomUUID()}@example.org`, password: randomUUID() }
  await fieldsOf(client, { path: '/auth/register', body: { ...credentials, name: 'Somebody' } })
  return credentials
}

export async function logIn(client: Client, { email, password }: Credentials): Promise<Member> {
  const answer = await fieldsOf(client, { path: '/auth/login', body: { email, password } })
  const { access_token: token = '', refresh_token: refreshToken = '' } = answer
  return { ...client, email, password, token, refreshToken }
}

/** Makes an account, and logs in. */
export async function join(client: Client): Promise<Member> {
  return logIn(client, await register(client))
}

export async function makeKey(member: Client): Promise<string> {
  return (await fieldsOf(member, { path: '/auth/keys', body: { name: 'bench' } })).key as string
}

/** Asks from many clients at once, each again when it has its answer; `stop` waits for the answers under way. */
export function keepAsking(
  clients: number,
  once: (client: number, call: number) => Promise<void>,
): { stop(): Promise<void> } {
  let running = true
  const loops = Array.from({ length: clients }, async (_, client) => {
    for (let call = 0; running; call++) await once(client, call)
  })
  return {
    async stop() {
      running = false
      await Promise.all(loops)
    },
  }
}

/** The bytes of a request. */
export function written(
  { token }: Client,
  { method = 'POST', path, body }: Sent,
  length = Buffer.byteLength(textOf(body) ?? ''),
): Buffer {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Content-Type: application/json',
    `Content-Length: ${length}`,
    ...(token ? [`Authorization: Bearer ${token}`] : []),
  ]
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${textOf(body) ?? ''}`)
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
