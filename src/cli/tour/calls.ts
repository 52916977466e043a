import { OperatorError } from '#src/errors.ts'
import { messageOf } from '#src/lib/caught.ts'

/** A request of the tour. */
export interface Call {
  method: 'GET' | 'POST' | 'DELETE'
  /** With its query, from the root of the service. */
  path: string
  headers?: Record<string, string>
  /** Sent as JSON. */
  body?: object
  /** Sent with it, and shown as a variable of the shell. */
  token?: string
}

/** What came of it. */
export interface Answer {
  status: number
  headers: Headers
  mediaType: string
  text: string
  /** The body, where it is JSON. */
  json?: unknown
}

/** How long an answer may take. */
const PATIENCE_MS = 30_000

const JSON_TYPE = 'application/json'

/**
 * Asks a service.
 *
 * @param origin what stands before all paths, without a slash at its end
 * @throws {OperatorError} where no answer comes
 */
export async function ask(origin: string, call: Call, signal: AbortSignal): Promise<Answer> {
  try {
    const response = await fetch(origin + call.path, {
      method: call.method,
      headers: {
        ...call.headers,
        ...(call.body && { 'content-type': JSON_TYPE }),
        ...(call.token && { authorization: `Bearer ${call.token}` }),
      },
      ...(call.body && { body: JSON.stringify(call.body) }),
      // A token is for the service that was named, and for no other.
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]),
    })
    const text = await response.text()
    const mediaType = (response.headers.get('content-type') ?? '').split(';')[0] as string
    const json = mediaType === JSON_TYPE ? parsed(text) : undefined
    return { status: response.status, headers: response.headers, mediaType, text, json }
  } catch (error) {
    signal.throwIfAborted()
    throw new OperatorError(`${origin} does not answer: ${reasonOf(error)}.`)
  }
}

/** A body that is no JSON, whatever its type says, is shown as it is. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** `fetch` says "fetch failed" of everything, and why in the cause. */
function reasonOf(error: unknown): string {
  const { cause } = error as Error
  return messageOf(cause) || messageOf(error)
}

/** A call as it is typed into a shell, an option a line. */
export function curlOf(origin: string, { method, path, headers, body, token }: Call): string {
  const options = [
    ...(token ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...(body ? [`-H 'Content-Type: ${JSON_TYPE}'`] : []),
    ...Object.entries(headers ?? {}).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body ? [`-d ${quoted(JSON.stringify(body))}`] : []),
  ]
  const verb = method === 'GET' ? 'curl' : `curl -X ${method}`
  return [`${verb} ${quoted(origin + path)}`, ...options].join(' \\\n  ')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
