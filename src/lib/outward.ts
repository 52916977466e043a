import { Resolver } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { isPublicAddress } from './network.ts'

/** Of requests to addresses that others have chosen. */
export interface OutwardRules {
  /** Ports of `https` addresses. */
  ports: readonly number[]
  /** Allows private addresses, any port and `http`: for tests and own networks. */
  allowPrivate: boolean
}

const DNS_TIMEOUT_MS = 3_000

/** The rule that a target breaks, as the rest of a sentence. The addresses of its name are checked with each request. */
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
export async function resolveName(hostname: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: 1 })
  const found = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
  return found.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
}

/**
 * The checked addresses of a target's name.
 *
 * @throws {Error} for a name that leads nowhere, or of which one address is not public
 */
export async function resolveTarget(
  hostname: string,
  { allowPrivate }: OutwardRules,
  resolve = resolveName,
): Promise<string[]> {
  const literal = addressIn(hostname)
  const addresses = literal === undefined ? await resolve(hostname) : [literal]
  if (addresses.length === 0) throw new Error('the name of the target leads nowhere')
  if (!allowPrivate && !addresses.every(isPublicAddress)) {
    throw new Error('the name of the target leads to an address that is not public')
  }
  return addresses
}

/** Options of a request that connects to checked addresses alone, without the agent of the process, which may have a proxy. */
export function connectingTo(addresses: string[]): { agent: false; lookup: LookupFunction } {
  const all = addresses.map((address) => ({ address, family: isIP(address) }))
  return {
    agent: false,
    lookup(_hostname, options, callback) {
      const [first] = all as [(typeof all)[number]]
      if (options.all) callback(null, all)
      else callback(null, first.address, first.family)
    },
  }
}
