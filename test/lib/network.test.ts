import { expect, test } from 'vitest'
import { isAddressOrRange, isWithin, listNetworks, networkOf, siteOf } from '#src/lib/network.ts'

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
  '',
  'loopback',
  '10.8',
  '0x0a.0.0.1',
  '010.0.0.1',
  '10.0.0.256',
  '10.0.0.0/33',
  '::/129',
  '10.0.0.0/',
  '10.0.0.0/8/8',
  // Everybody is no range.
  '0.0.0.0/0',
  '::/0',
  '10.0.0.0/00',
])('%s is neither an address nor a range', (text) => {
  expect(isAddressOrRange(text)).toBe(false)
})
