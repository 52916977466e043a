import { Resolver } from 'node:dns/promises'
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { isPublicAddress } from '#src/lib/network.ts'
import { createDeadline } from '#src/lib/time-budget.ts'

export interface OutwardRules {
  /** Ports of `https` addresses. */
  ports: readonly number[]
  /** Allows private addresses, any port and `http`: for tests and own networks. */
  allowPrivate: boolean
}

interface OutwardMessage {
  headers: Record<string, string>
  body: string
}

type Resolve = (hostname: string) => Promise<string[]>

interface Posting {
  signal: AbortSignal
  resolve?: Resolve
  withinMs?: number
}

/** Time of the whole exchange. */
const TIMEOUT_MS = 10_000
const DNS_TIMEOUT_MS = 3_000

/** Bytes read of an answer, since a server logs an error when it is cut off; as much may come before the answer. */
const ANSWER_BYTES = 16_384

/** The rule that a target breaks, as the rest of a sentence. The addresses of its name are checked with each post. */
export function whyNoTarget(text: string, { ports, allowPrivate }: OutwardRules): string | undefined {
  if (!URL.canParse(text)) return 'must be a URL'
  const { protocol, username, password, hash, hostname, port } = new URL(text)
  if (username !== '' || password !== '') return 'must have no user and no password'
  if (hash !== '') return 'must have no fragment'
  if (allowPrivate && protocol === 'http:') return undefined
  if (protocol !== 'https:') return 'must begin with https://'
  if (allowPrivate) return undefined
  if (!ports.includes(Number(port || 443))) return `must be at port ${ports.join(' or ')}`
  const address = addressIn(hostname)
  if (address !== undefined) return isPublicAddress(address) ? undefined : 'must be a public address'
  return /^[^.]+\.?$|\.(localhost|local|internal|home\.arpa)\.?$/i.test(hostname)
    ? 'must be a public host'
    : undefined
}

function addressIn(hostname: string): string | undefined {
  const plain = hostname.replace(/^\[(.*)\]$/, '$1')
  return isIP(plain) === 0 ? undefined : plain
}

/** Asks name servers without threads of the pool, so that slow ones do not delay other work. */
async function resolveName(hostname: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: 1 })
  const found = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
  return found.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
}

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
        // The agent of the process may have a proxy.
        agent: false,
        lookup: pinned(addresses),
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

async function resolveTarget(
  hostname: string,
  { allowPrivate }: OutwardRules,
  resolve: Resolve,
): Promise<string[]> {
  const literal = addressIn(hostname)
  const addresses = literal === undefined ? await resolve(hostname) : [literal]
  if (addresses.length === 0) throw new Error('the name of the target leads nowhere')
  if (!allowPrivate && !addresses.every(isPublicAddress)) {
    throw new Error('the name of the target leads to an address that is not public')
  }
  return addresses
}

function pinned(addresses: string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_hostname, options, callback) => {
    const [first] = all as [(typeof all)[number]]
    if (options.all) callback(null, all)
    else callback(null, first.address, first.family)
  }
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
