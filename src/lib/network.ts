import ipaddr from 'ipaddr.js'

/**
 * What one subscriber has, as text: an IPv4 address, or the /64 of an IPv6 one, within which it can
 * choose. What is no address is its own network.
 */
export function networkOf(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address
  const parsed = ipaddr.IPv6.parse(address)
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().toString()
  const prefix = parsed.parts.slice(0, 4).map((part) => part.toString(16))
  return `${prefix.join(':')}::/64`
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

/** Whether an address is one of some addresses, or lies in one of some ranges. */
export function isWithin(address: string, addressesOrRanges: readonly string[]): boolean {
  if (!ipaddr.isValid(address)) return false
  // An IPv4 address may be written as an IPv6 one.
  const parsed = ipaddr.process(address)
  return addressesOrRanges.some((item) => {
    const [network, bits] = item.includes('/') ? ipaddr.parseCIDR(item) : [ipaddr.process(item), undefined]
    return network.kind() === parsed.kind() && parsed.match(network, bits ?? network.toByteArray().length * 8)
  })
}
