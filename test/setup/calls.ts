import type { OutgoingHttpHeaders } from 'node:http'
import type { InjectOptions } from 'fastify'
import type { App } from '#src/http/app.ts'

/** What a request has besides its method and its path. */
export interface Sent {
  /** Who sends it: somebody who has logged in, or a key. */
  by?: { headers: { authorization: string } }
  payload?: InjectOptions['payload']
  headers?: Record<string, string>
  /** The address that it comes from. */
  from?: string
}

export interface Called {
  status: number
  headers: OutgoingHttpHeaders
  text: string
  /** What is in JSON, without the id of the request; undefined of other answers. */
  // biome-ignore lint/suspicious/noExplicitAny: Tests compare it with what they expect.
  body: any
}

/** Sends a request such as `GET /stats`, and reads the answer. */
export async function call(app: App, request: string, sent: Sent = {}): Promise<Called> {
  const [method, url] = request.split(' ') as ['GET', string]
  const { by, payload, headers, from } = sent
  const response = await app.inject({
    method,
    url,
    headers: { ...by?.headers, ...headers },
    ...(payload !== undefined && { payload }),
    ...(from && { remoteAddress: from }),
  })
  const { statusCode: status, headers: answered, body: text } = response
  const isJson = text !== '' && /[/+]json\b/.test(String(answered['content-type']))
  const { request_id: _, ...body } = isJson ? JSON.parse(text) : {}
  return { status, headers: answered, text, body: isJson ? body : undefined }
}

/** Somebody with a key, as {@link Sent} names callers. */
export const withKey = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })
