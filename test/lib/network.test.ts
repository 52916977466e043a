import { expect, test } from 'vitest'
import {
  isAddressOrRange,
  isPublicAddress,
  isWithin,
  listNetworks,
  networkOf,
  siteOf,
} from '#src/lib/network.ts'

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::ffff:c000:201', '192.0.2.1'],
  ['::1', '0:0:0:0::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['unknown', 'unknown'],
  ['', 'unknown'],
  ['192.0.2.1:443', '192.0.2.1'],
  ['[::ffff:192.0.2.1]:443', '192.0.2.1'],
  ['[2001:db8:1:2::3]:65535', '2001:db8:1:2::/64'],
  ['[2001:db8:1:2::3]', '2001:db8:1:2::/64'],
])('%s belongs to the network %s', (address, network) => {
  expect(networkOf(address)).toBe(network)
})

test('an IPv6 address belongs to whatever one subscriber may have of it, an IPv4 address to itself', () => {
  expect(listNetworks('2001:db8:1:2ff:5::6')).toEqual([
    '2001:db8:1:2ff::/64',
    '2001:db8:1:200::/56',
    '2001:db8:1::/48',
  ])
  expect(siteOf('2001:db8:1:ffff::1')).toBe('2001:db8:1::/48')
  expect(listNetworks('192.0.2.1:443')).toEqual(['192.0.2.1'])
  expect(siteOf('192.0.2.1')).toBe('192.0.2.1')
})

test.each(['10.1.2.3', '::ffff:10.1.2.3', '[::ffff:10.1.2.3]:8080', '[fd00::1]:8080', 'fd00::1'])(
  '%s lies within 10.0.0.0/8 or fd00::/8',
  (address) => {
    expect(isWithin(address, ['10.0.0.0/8', 'fd00::/8'])).toBe(true)
    expect(isWithin(address, ['192.0.2.1', '::1'])).toBe(false)
  },
)

test.each(['10.0.0.0', '10.0.0.0/8', '10.0.0.1/32', 'fe80::1%eth0', '::1/128'])(
  '%s is an address or a range',
  (text) => {
    expect(isAddressOrRange(text)).toBe(true)
  },
)

test.each([
  ...['', 'loopback', '10.8', '0x0a.0.0.1', '010.0.0.1', '10.0.0.256'],
  ...['10.0.0.0/33', '::/129', '10.0.0.0/', '10.0.0.0/8/8'],
  // Everybody is no range.
  ...['0.0.0.0/0', '::/0', '10.0.0.0/00'],
])('%s is neither an address nor a range', (text) => {
  expect(isAddressOrRange(text)).toBe(false)
})

test.each([
  ...['8.8.8.8', '1.1.1.1', '172.15.255.255', '172.32.0.1', '100.63.255.255', '100.128.0.1'],
  ...['223.255.255.254', '2606:4700::1111', '2a00:1450:4001::1'],
])('%s is public', (address) => {
  expect(isPublicAddress(address)).toBe(true)
})

test.each([
  // This machine, its networks, and those of carriers.
  ...['127.0.0.1', '127.255.255.254', '0.0.0.0', '0.1.2.3', '10.0.0.1', '172.16.0.1', '172.31.255.255'],
  ...[
    '192.168.0.1',
    '100.64.0.1',
    '100.127.255.255',
    '::1',
    '::',
    'fc00::1',
    'fdff::1',
    'fe80::1',
    'fec0::1',
  ],
  // What clouds tell their machines.
  ...['169.254.169.254', 'fd00:ec2::254', '192.0.0.192', '100.100.100.200', '168.63.129.16'],
  // Many, none, or reserved.
  ...['224.0.0.1', '239.255.255.255', '255.255.255.255', '240.0.0.1', 'ff02::1', '4000::1', '::7f00:1'],
  ...['192.0.2.1', '198.51.100.1', '203.0.113.1', '198.18.0.1', '198.19.255.255', '2001:db8::1', '3fff::1'],
  // IPv4 in the guise of IPv6.
  ...['::ffff:127.0.0.1', '::ffff:8.8.8.8', '::ffff:7f00:1', '64:ff9b::7f00:1', '2002:7f00:1::', '2001::1'],
  // What other programs take for addresses.
  ...['127.1', '0x7f.0.0.1', '2130706433', '0177.0.0.1', 'localhost', '', '127.0.0.1%lo', 'fe80::1%eth0'],
])('%s is not public', (address) => {
  expect(isPublicAddress(address)).toBe(false)
})
