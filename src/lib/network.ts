import { isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** A name of the DNS with a port. */
const LONGEST_HOST = 259

/** A name or an IPv4 address, or what stands in brackets, and a port (RFC 3986, 3.2.2 and 3.2.3). */
const HOST = /^(?:\[([\da-f:.]+)\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})+)(?::\d*)?$/i

/** Whether a text names a host, as URLs and the Host header do. */
export function isHost(text: string): boolean {
  if (text.length > LONGEST_HOST) return false
  const found = HOST.exec(text)
  return found !== null && (found[1] === undefined || isIPv6(found[1]))
}

/** What of an IPv6 address one subscriber may choose freely: some are given a /64, others a /56 or a /48. */
const IPV6_PREFIXES = [64, 56, 48]

const NO_NETWORK = 'unknown'

/**
 * What one subscriber may have, from the smallest to the largest: an IPv4 address, or the /64, the /56 and the
 * /48 of an IPv6 one. All texts that are no address are one network: a client may have made them up.
 */
export function networksOf(address: string): [string, ...string[]] {
  const plain = withoutPort(address)
  if (ipaddr.IPv4.isValidFourPartDecimal(plain)) return [plain]
  if (!ipaddr.IPv6.isValid(plain)) return [NO_NETWORK]
  const parsed = ipaddr.IPv6.parse(plain)
  if (parsed.isIPv4MappedAddress()) return [parsed.toIPv4Address().toString()]
  return IPV6_PREFIXES.map((bits) => prefixOf(parsed, bits)) as [string, ...string[]]
}

/** The smallest of them: who else is in it is most likely the same subscriber. */
export function networkOf(address: string): string {
  return networksOf(address)[0]
}

/** The largest of them: whoever is the same subscriber is in it. */
export function siteOf(address: string): string {
  return networksOf(address).at(-1) as string
}

function prefixOf({ parts }: ipaddr.IPv6, bits: number): string {
  const kept = parts.slice(0, Math.ceil(bits / 16))
  const unused = kept.length * 16 - bits
  const masked = kept.map((part, index) => (index === kept.length - 1 ? (part >> unused) << unused : part))
  return `${masked.map((part) => part.toString(16)).join(':')}::/${bits}`
}

/** An address without the port that some proxies write behind it: `192.0.2.1:443`, `[2001:db8::1]:443`. */
function withoutPort(text: string): string {
  const [, bracketed, plain] = /^(?:\[([^[\]]+)\](?::\d+)?|([\d.]+):\d+)$/.exec(text) ?? []
  return bracketed ?? plain ?? text
}

/** Whether a text is an address, or a range such as 10.0.0.0/8 that is not everybody. */
export function isAddressOrRange(text: string): boolean {
  const { IPv4, IPv6 } = ipaddr
  // 10.8 and 0x0a.0.0.1 are addresses to some programs and not to others: all four parts, and decimal.
  if (IPv4.isValidFourPartDecimal(text) || IPv6.isValid(text)) return true
  if (!IPv4.isValidCIDRFourPartDecimal(text) && !IPv6.isValidCIDR(text)) return false
  const [, bits] = ipaddr.parseCIDR(text)
  return bits > 0
}

/** Whether an address, with a port or without, is one of some addresses, or lies in one of some ranges. */
export function isWithin(address: string, addressesOrRanges: readonly string[]): boolean {
  const plain = withoutPort(address)
  if (!ipaddr.isValid(plain)) return false
  // An IPv4 address may be written as an IPv6 one.
  const parsed = ipaddr.process(plain)
  return addressesOrRanges.some((item) => {
    const [network, bits] = item.includes('/') ? ipaddr.parseCIDR(item) : [ipaddr.process(item), undefined]
    return network.kind() === parsed.kind() && parsed.match(network, bits ?? network.toByteArray().length * 8)
  })
}

/** Global unicast addresses (RFC 4291, 2.4): nothing else of IPv6 is given to hosts of the internet. */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number]

/**
 * What else is not of the internet: for the host of machines at Azure, for documentation, for tests of networks, and for the ways in which IPv6 carries IPv4
 * addresses, of which any may be inside.
 */
const OTHERS_IPV4 = [
  '168.63.129.16/32',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
].map((range) => ipaddr.parseCIDR(range) as [ipaddr.IPv4, number])
const OTHERS_IPV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'].map(
  (range) => ipaddr.parseCIDR(range) as [ipaddr.IPv6, number],
)

/**
 * Whether an address is one of the public internet: not of this machine or its networks, nor of carriers or clouds
 * (169.254.169.254 is a link-local one), not of many hosts, and no IPv4 address in the guise of an IPv6 one.
 */
export function isPublicAddress(text: string): boolean {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) {
    const address = ipaddr.IPv4.parse(text)
    return address.range() === 'unicast' && !OTHERS_IPV4.some((range) => address.match(range))
  }
  if (!ipaddr.IPv6.isValid(text)) return false
  const address = ipaddr.IPv6.parse(text)
  return (
    address.range() === 'unicast' &&
    address.match(GLOBAL_IPV6) &&
    !OTHERS_IPV6.some((range) => address.match(range))
  )
}
