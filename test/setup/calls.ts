import type { OutgoingHttpHeaders } from 'node:http'
import type { InjectOptions } from 'fastify'
import type { App } from '#src/http/app.ts'

/** Somebody who has logged in, or a key. */
export type Caller = { headers: { authorization: string } } | string

/** What a request has besides its method and its path. */
export interface Sent {
  by?: Caller
  payload?: InjectOptions['payload']
  query?: InjectOptions['query']
  headers?: Record<string, string | undefined>
  /** The address that it comes from. */
  from?: string
}

export interface Called {
  status: number
  headers: OutgoingHttpHeaders
  text: string
  bytes: Buffer
  /** What is in JSON, without the id of the request; undefined of other answers. */
  // biome-ignore lint/suspicious/noExplicitAny: Tests compare it with what they expect.
  body: any
}

type Ask = (what: string, sent?: Sent) => Promise<Called>

/** Sends requests to a service that does not listen, and reads the answers. */
export interface Client {
  /** Sends a request with its method, such as `GET /stats`. */
  ask: Ask
  get: Ask
  head: Ask
  options: Ask
  post: Ask
  put: Ask
  delete: Ask
}

export function clientOf(app: App): Client {
  const ask: Ask = (request, sent) => call(app, request, sent)
  const by =
    (method: string): Ask =>
    (path, sent) =>
      ask(`${method} ${path}`, sent)
  return {
    ask,
    get: by('GET'),
    head: by('HEAD'),
    options: by('OPTIONS'),
    post: by('POST'),
    put: by('PUT'),
    delete: by('DELETE'),
  }
}

/** Sends a request such as `GET /stats`, and reads the answer. */
export async function call(app: App, request: string, sent: Sent = {}): Promise<Called> {
  const [method, url] = request.split(' ') as ['GET', string]
  const { by, payload, query, headers, from } = sent
  const response = await app.inject({
    ...{ method, url, headers: { ...headersOf(by), ...headers } },
    ...(payload !== undefined && { payload }),
    ...(query && { query }),
    ...(from && { remoteAddress: from }),
  })
  const { statusCode: status, headers: answered, body: text, rawPayload: bytes } = response
  const isJson = text !== '' && /[/+]json\b/.test(String(answered['content-type']))
  return { status, headers: answered, text, bytes, body: isJson ? withoutId(JSON.parse(text)) : undefined }
}

export const headersOf = (by?: Caller) =>
  typeof by === 'string' ? { authorization: `Bearer ${by}` } : by?.headers

function withoutId(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const { request_id: _, ...others } = value as Record<string, unknown>
  return others
}
