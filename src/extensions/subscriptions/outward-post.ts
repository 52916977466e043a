import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { connectingTo, type OutwardRules, resolveName, resolveTarget, whyNoTarget } from '#src/lib/outward.ts'
import { createDeadline } from '#src/lib/time-budget.ts'

interface OutwardMessage {
  headers: Record<string, string>
  body: string
}

interface Posting {
  signal: AbortSignal
  resolve?: typeof resolveName
  withinMs?: number
}

/** Time of the whole exchange. */
const TIMEOUT_MS = 10_000

/** Bytes read of an answer, since a server logs an error when it is cut off; as much may come before the answer. */
const ANSWER_BYTES = 16_384

/**
 * Posts to a target, and connects to checked addresses alone: where one address of its name is not public, to none. It
 * follows no redirects, and uses no proxy of the environment. Gives the status of the answer.
 */
export async function postOutward(
  target: string,
  message: OutwardMessage,
  rules: OutwardRules,
  { signal, resolve = resolveName, withinMs = TIMEOUT_MS }: Posting,
): Promise<number> {
  const rule = whyNoTarget(target, rules)
  if (rule !== undefined) throw new Error(`the target ${rule}`)
  const url = new URL(target)
  const deadline = createDeadline(signal)
  deadline.setDue(withinMs, () => new Error(`the target takes longer than ${withinMs / 1000} seconds`))
  const late = rejectedBy(deadline.signal)
  try {
    const addresses = await Promise.race([resolveTarget(url.hostname, rules, resolve), late])
    deadline.signal.throwIfAborted()
    // Whatever becomes of the connection, the wait ends.
    return await Promise.race([post(url, addresses, message, deadline), late])
  } catch (error) {
    deadline.end()
    throw deadline.signal.aborted ? deadline.signal.reason : error
  }
}

/** Resolves at the begin of the answer; the deadline ends with the connection. */
function post(
  url: URL,
  addresses: string[],
  { headers, body }: OutwardMessage,
  deadline: ReturnType<typeof createDeadline>,
): Promise<number> {
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest
  return new Promise((done, failed) => {
    const sent = request(
      url,
      {
        method: 'POST',
        headers: { ...headers, 'content-length': Buffer.byteLength(body), connection: 'close' },
        ...connectingTo(addresses),
        signal: deadline.signal,
        ...(url.protocol === 'https:' && { rejectUnauthorized: true }),
      },
      (answer) => {
        drain(answer)
        done(answer.statusCode as number)
      },
    )
    limitHints(sent)
    // Node gives the connection away, and would never say that it closes.
    sent.on('upgrade', (answer, socket) => {
      socket.destroy()
      done(answer.statusCode as number)
    })
    sent.on('error', failed)
    sent.on('close', () => {
      deadline.end()
      failed(new Error('the target closes the connection without an answer'))
    })
    sent.end(body)
  })
}

function rejectedBy(signal: AbortSignal): Promise<never> {
  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason))
  })
  // The race may be over.
  aborted.catch(() => {})
  return aborted
}

/** Bounds informational answers, such as 103 Early Hints. */
function limitHints(sent: ClientRequest): void {
  let before: number | undefined
  sent.on('information', () => {
    const bytes = sent.socket?.bytesRead ?? 0
    // The TLS handshake does not count.
    before ??= bytes
    if (bytes - before > ANSWER_BYTES) {
      sent.destroy(new Error(`the target sends more than ${ANSWER_BYTES} bytes before its answer`))
    }
  })
}

function drain(answer: IncomingMessage): void {
  let bytes = 0
  answer.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > ANSWER_BYTES) answer.destroy()
  })
  answer.on('error', () => {})
}
