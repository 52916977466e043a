import { randomUUID } from 'node:crypto'
import { Agent, type IncomingHttpHeaders, request } from 'node:http'

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
export function ask(client: Client, sent: Sent, givenUpMs = GIVEN_UP_MS): Promise<Reply> {
  const { port, address } = client
  const { method = 'POST', path } = sent
  const text = textOf(sent.body)
  const started = performance.now()
  return new Promise((resolve) => {
    const done = (reply: Omit<Reply, 'ms'>) => resolve({ ...reply, ms: performance.now() - started })
    const fail = ({ code, message }: NodeJS.ErrnoException) =>
      done({ status: 0, headers: {}, body: '', failure: code ?? message })
    const outgoing = request(
      {
        host: '127.0.0.1',
        port,
        path,
        method,
        localAddress: address,
        agent: agentOf(address),
        headers: headersOf(client, sent, text ? Buffer.byteLength(text) : undefined),
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
    const giveUp = () => outgoing.destroy(new Error(`no answer within ${givenUpMs} ms`))
    const late = setTimeout(giveUp, givenUpMs)
    outgoing.once('close', () => clearTimeout(late))
    outgoing.once('error', fail)
    outgoing.end(text)
  })
}

function textOf(body: Sent['body']): string | undefined {
  return typeof body === 'object' ? JSON.stringify(body) : body
}

/** @param length of the body, in bytes; undefined of none */
function headersOf({ token }: Pick<Client, 'token'>, { headers }: Sent, length: number | undefined) {
  return {
    ...(length !== undefined && { 'content-type': 'application/json', 'content-length': length }),
    ...(token && { authorization: `Bearer ${token}` }),
    ...headers,
  }
}

/** The bytes of a request, whose body may be said to be longer than it is. */
export function written(
  client: Pick<Client, 'token'>,
  sent: Sent,
  length = Buffer.byteLength(textOf(sent.body) ?? ''),
): Buffer {
  const headers = { host: '127.0.0.1', ...headersOf(client, sent, length) }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  const head = [`${sent.method ?? 'POST'} ${sent.path} HTTP/1.1`, ...lines].join('\r\n')
  return Buffer.from(`${head}\r\n\r\n${textOf(sent.body) ?? ''}`)
}

/** Whether it is an answer, and a success. */
export function isSuccess({ status }: { status: number }): boolean {
  return status >= 200 && status <= 299
}

/** The fields of the answer to a request that has to succeed. */
export async function fieldsOf(client: Client, sent: Sent): Promise<Record<string, string>> {
  const reply = await ask(client, sent)
  if (!isSuccess(reply)) throw new Error(`${sent.path} was answered ${reply.status} ${reply.body}`)
  return JSON.parse(reply.body)
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
