import { isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Length of a DNS name with a port. */
const LONGEST_HOST = 259

/** A name, an IPv4 address or brackets, and a port (RFC 3986, 3.2.2 and 3.2.3). */
const HOST = /^(?:\[([\da-f:.]+)\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})+)(?::\d*)?$/i

/** Whether a text is a host of URLs and the Host header. */
export function isHost(text: string): boolean {
  if (text.length > LONGEST_HOST) return false
  const found = HOST.exec(text)
  return found !== null && (found[1] === undefined || isIPv6(found[1]))
}

/** IPv6 prefixes of one subscriber: some have a /64, others a /56 or a /48. */
const IPV6_PREFIXES = [64, 56, 48]

const NO_NETWORK = 'unknown'

/**
 * Possible networks of one subscriber, from the smallest: an IPv4 address, or the /64, the /56 and the /48 of an IPv6 one.
 * Invalid texts, which clients can make up, are one network.
 */
export function listNetworks(address: string): [string, ...string[]] {
  const plain = withoutPort(address)
  if (ipaddr.IPv4.isValidFourPartDecimal(plain)) return [plain]
  if (!ipaddr.IPv6.isValid(plain)) return [NO_NETWORK]
  const parsed = ipaddr.IPv6.parse(plain)
  if (parsed.isIPv4MappedAddress()) return [parsed.toIPv4Address().toString()]
  return IPV6_PREFIXES.map((bits) => formatPrefix(parsed, bits)) as [string, ...string[]]
}

/** The smallest network: most likely of one subscriber alone. */
export function networkOf(address: string): string {
  return listNetworks(address)[0]
}

/** The largest network: all addresses of one subscriber. */
export function siteOf(address: string): string {
  return listNetworks(address).at(-1) as string
}

function formatPrefix({ parts }: ipaddr.IPv6, bits: number): string {
  const used = parts.slice(0, Math.ceil(bits / 16))
  const unused = used.length * 16 - bits
  const masked = used.map((part, index) => (index === used.length - 1 ? (part >> unused) << unused : part))
  return `${masked.map((part) => part.toString(16)).join(':')}::/${bits}`
}

/** Some proxies add a port: `192.0.2.1:443`, `[2001:db8::1]:443`. */
function withoutPort(text: string): string {
  const [, bracketed, plain] = /^(?:\[([^[\]]+)\](?::\d+)?|([\d.]+):\d+)$/.exec(text) ?? []
  return bracketed ?? plain ?? text
}

/** Whether a text is an address, or a range such as 10.0.0.0/8, but not of all addresses. */
export function isAddressOrRange(text: string): boolean {
  const { IPv4, IPv6 } = ipaddr
  // Programs disagree on 10.8 and 0x0a.0.0.1: four decimal parts are required.
  if (IPv4.isValidFourPartDecimal(text) || IPv6.isValid(text)) return true
  if (!IPv4.isValidCIDRFourPartDecimal(text) && !IPv6.isValidCIDR(text)) return false
  const [, bits] = ipaddr.parseCIDR(text)
  return bits > 0
}

/** @param address with a port or without */
export function isWithin(address: string, addressesOrRanges: readonly string[]): boolean {
  const plain = withoutPort(address)
  if (!ipaddr.isValid(plain)) return false
  // An IPv4 address may have the form of an IPv6 one.
  const parsed = ipaddr.process(plain)
  return addressesOrRanges.some((item) => {
    const [network, bits] = item.includes('/') ? ipaddr.parseCIDR(item) : [ipaddr.process(item), undefined]
    return network.kind() === parsed.kind() && parsed.match(network, bits ?? network.toByteArray().length * 8)
  })
}

/** Global unicast addresses (RFC 4291, 2.4), those of IPv6 hosts in the internet. */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number]

/** Of the platform of Azure, among public addresses. */
const AZURE_PLATFORM = '168.63.129.16'

/**
 * Whether an address is in the public internet: not of this machine or its networks, of carriers or clouds
 * (169.254.169.254 is link-local), no multicast, and no IPv4 address inside an IPv6 one.
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.IPv4.isValidFourPartDecimal(text) && !ipaddr.IPv6.isValid(text)) return false
  const address = ipaddr.parse(text)
  if (address.range() !== 'unicast' || text === AZURE_PLATFORM) return false
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_IPV6)
}
