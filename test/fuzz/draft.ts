import type { Operation } from '#test/setup/document.ts'
import type { Wire } from './wire.ts'

/** A request that is being made: what it says, and how it is written out. */
export interface Draft {
  operation: Operation
  method: string
  /** The path of the document, whose parameters are in `path`. */
  template: string
  path: Record<string, string>
  query: [name: string, value: string][]
  headers: [name: string, value: string][]
  mediaType: string | undefined
  /** The body as a value of JSON, or as text. */
  body: unknown
  /** What is sent in place of the body's value. */
  bytes: Buffer | undefined
  /** What the body is encoded as, and the bytes that are sent for it. */
  encoded: { coding: string; encode: (bytes: Buffer) => Buffer } | undefined
  /** Whether the body is sent in chunks. */
  chunked: boolean
  /** Rewrites what is sent; what it comes to is none that a client library would send. */
  garble: ((bytes: Buffer) => Buffer) | undefined
  /** Whether its path is not that of its operation. */
  elsewhere: boolean
  /** Whether it is illegal in a way of which the document says nothing in schemas. */
  broken: boolean
  /** Whether neither the document nor HTTP says that it is legal, nor that it is not. */
  unclear: boolean
}

const isJson = (mediaType: string) => /[/+]json\s*(;|$)/i.test(mediaType)

/** The bytes of a body before they are encoded. */
export function plainBodyOf({ bytes, body, mediaType }: Draft): Buffer | undefined {
  if (bytes) return bytes
  if (body === undefined) return undefined
  const text = typeof body === 'string' && !isJson(mediaType ?? '') ? body : JSON.stringify(body)
  return Buffer.from(text ?? '')
}

/** The path and query of a request, with whatever stands in them. */
function targetOf({ template, path, query }: Draft): string {
  const filled = template.replace(/\{(\w+)\}/g, (_, name) => encoded(path[name] ?? ''))
  const parts = query.map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
  return parts.length > 0 ? `${filled}?${parts.join('&')}` : filled
}

const encoded = (text: string) => encodeURIComponent(text.toWellFormed())

/** What goes over the wire, as a request of somebody with an authorization from an address. */
export function wireOf(draft: Draft, authorization: string | undefined, address: string): Wire {
  const plain = plainBodyOf(draft)
  const content = plain && draft.encoded ? draft.encoded.encode(plain) : plain
  const body = content && draft.chunked ? inChunks(content) : content
  const framing: [string, string][] = draft.chunked
    ? [['Transfer-Encoding', 'chunked']]
    : [['Content-Length', String(body?.length ?? 0)]]
  const present = (entries: [string, string | undefined][]) =>
    entries.filter((entry): entry is [string, string] => entry[1] !== undefined)
  return {
    method: draft.method.toUpperCase(),
    target: targetOf(draft),
    headers: [
      ...present([
        ['Host', '127.0.0.1'],
        ['Connection', 'close'],
        ['X-Forwarded-For', address],
        ['Authorization', authorization],
        ['Content-Type', body && draft.mediaType],
        ['Content-Encoding', draft.encoded?.coding],
      ]),
      ...draft.headers,
      ...(body ? framing : []),
    ],
    body,
  }
}

function inChunks(bytes: Buffer): Buffer {
  const half = bytes.length >> 1
  const parts = [bytes.subarray(0, half), bytes.subarray(half)].filter(({ length }) => length > 0)
  const chunks = parts.flatMap((part) => [
    Buffer.from(`${part.length.toString(16)}\r\n`),
    part,
    Buffer.from('\r\n'),
  ])
  return Buffer.concat([...chunks, Buffer.from('0\r\n\r\n')])
}
