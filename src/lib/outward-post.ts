import { Resolver } from 'node:dns/promises'
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { isPublicAddress } from './network.ts'

/** Where may be posted to. */
export interface OutwardRules {
  /** Ports of `https` addresses. */
  ports: readonly number[]
  /** Whether private addresses, any port and `http` are allowed: for tests, and networks of one's own. */
  allowPrivate: boolean
}

/** What is posted. */
interface OutwardMessage {
  headers: Record<string, string>
  body: string
}

/** The addresses that a name has. */
export type Resolve = (hostname: string) => Promise<string[]>

/** How something is posted. */
interface Posting {
  /** Ends it. */
  signal: AbortSignal
  resolve?: Resolve
  withinMs?: number
}

/** For how long a server may take for all of it. */
const TIMEOUT_MS = 10_000
const DNS_TIMEOUT_MS = 3_000

/**
 * Answers are not of interest, but a server that is cut off while it answers logs errors. Before its answer a server may send
 * as much again.
 */
const ANSWER_BYTES = 16_384

/**
 * Why nothing is posted to an address, as the rest of a sentence that begins with its name; undefined where nothing speaks
 * against it. What its name leads to is looked at when something is posted.
 */
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

/** The address that stands in a URL in the place of a name. */
function addressIn(hostname: string): string | undefined {
  const plain = hostname.replace(/^\[(.*)\]$/, '$1')
  return isIP(plain) === 0 ? undefined : plain
}

/**
 * The addresses of a name, asked of the name servers without the threads that others wait for: names whose servers are slow
 * hold up nobody.
 */
async function resolveName(hostname: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: 1 })
  const found = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
  return found.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
}

/**
 * Posts something to an address, and connects to no other host than those that were looked at: where one of the addresses
 * of its name is not public, to none. Redirects are answers like any other; no proxy of the environment is used.
 *
 * @returns the status of the answer
 * @throws where there is none
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
  const deadline = startDeadline(signal, withinMs)
  try {
    const addresses = await Promise.race([addressesOf(url.hostname, rules, resolve), deadline.over])
    deadline.signal.throwIfAborted()
    return await post(url, addresses, message, deadline)
  } catch (error) {
    deadline.clear()
    throw deadline.signal.aborted ? deadline.signal.reason : error
  }
}

/** @returns when the answer begins; the deadline is cleared when the answer has ended */
function post(
  url: URL,
  addresses: string[],
  { headers, body }: OutwardMessage,
  deadline: Deadline,
): Promise<number> {
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest
  return new Promise((done, failed) => {
    const sent = request(
      url,
      {
        method: 'POST',
        headers: { ...headers, 'content-length': Buffer.byteLength(body), connection: 'close' },
        // Neither kept for others nor of the process, which may be told of a proxy.
        agent: false,
        lookup: pinned(addresses),
        signal: deadline.signal,
        ...(url.protocol === 'https:' && { rejectUnauthorized: true }),
      },
      (answer) => {
        readAway(answer)
        done(answer.statusCode as number)
      },
    )
    limitHints(sent)
    sent.on('error', failed)
    sent.on('close', deadline.clear)
    sent.end(body)
  })
}

interface Deadline {
  signal: AbortSignal
  /** Never resolved; rejected when the time is over. */
  over: Promise<never>
  clear: () => void
}

/**
 * Aborts with another signal or when the time is over. It has a timer of its own: on Node 20 `AbortSignal.any` loses a signal
 * of `AbortSignal.timeout` when memory is collected, and never aborts.
 */
function startDeadline(signal: AbortSignal, withinMs: number): Deadline {
  const controller = new AbortController()
  const timer = setTimeout(
    () => controller.abort(new Error(`the target takes longer than ${withinMs / 1000} seconds`)),
    withinMs,
  )
  const end = () => controller.abort(signal.reason)
  const over = new Promise<never>((_resolve, reject) => {
    controller.signal.addEventListener('abort', () => reject(controller.signal.reason))
  })
  // Nobody may wait for it any more when it comes.
  over.catch(() => {})
  if (signal.aborted) end()
  else signal.addEventListener('abort', end)
  const clear = () => {
    clearTimeout(timer)
    signal.removeEventListener('abort', end)
  }
  return { signal: controller.signal, over, clear }
}

async function addressesOf(
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

/** Answers with what was looked at, so that nothing else is connected to. */
function pinned(addresses: string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_hostname, options, callback) => {
    const [first] = all as [(typeof all)[number]]
    if (options.all) callback(null, all)
    else callback(null, first.address, first.family)
  }
}

/** Hangs up on a server that sends more and more informational answers, such as 103 Early Hints, before its answer. */
function limitHints(sent: ClientRequest): void {
  let before: number | undefined
  sent.on('information', () => {
    const bytes = sent.socket?.bytesRead ?? 0
    // What TLS has needed to begin does not count.
    before ??= bytes
    if (bytes - before > ANSWER_BYTES) {
      sent.destroy(new Error(`the target sends more than ${ANSWER_BYTES} bytes before its answer`))
    }
  })
}

/** Takes some of what comes, and hangs up then. */
function readAway(answer: IncomingMessage): void {
  let bytes = 0
  answer.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > ANSWER_BYTES) answer.destroy()
  })
  // What happens to the rest of an answer is of no interest.
  answer.on('error', () => {})
}
