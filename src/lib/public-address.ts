import ipaddr from 'ipaddr.js'

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
