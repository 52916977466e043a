import { expect, test } from 'vitest'
import { isAddressOrRange, isWithin, listNetworks, networkOf, siteOf } from '#src/lib/network.ts'

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:192.0.2.1', '192.0.2.1'],
  ['::ffff:c000:201', '192.0.2.1'],
  ['::1', '0:0:0:0::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:DB8:0:0:1:2:3:4', '2001:db8:0:0::/64'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0db8:0001::', '2001:db8:1:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
  ['unknown', 'unknown'],
  ['', 'unknown'],
  ['192.0.2.1.5', 'unknown'],
  ['1234', 'unknown'],
  ['192.0.2.1:443', '192.0.2.1'],
  ['[::ffff:192.0.2.1]:443', '192.0.2.1'],
  ['[2001:db8:1:2::3]:65535', '2001:db8:1:2::/64'],
  ['[2001:db8:1:2::3]', '2001:db8:1:2::/64'],
  ['unknown:80', 'unknown'],
  ['[', 'unknown'],
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

test.each([
  '10.1.2.3',
  '10.1.2.3:8080',
  '::ffff:10.1.2.3',
  '[::ffff:10.1.2.3]:8080',
  '[fd00::1]:8080',
  'fd00::1',
])('%s lies within 10.0.0.0/8 or fd00::/8', (address) => {
  expect(isWithin(address, ['10.0.0.0/8', 'fd00::/8'])).toBe(true)
  expect(isWithin(address, ['192.0.2.1', '::1'])).toBe(false)
})

test.each(['10.0.0.0', '10.0.0.0/8', '10.0.0.1/32', '::1', 'fe80::1%eth0', 'fe80::/10', '::1/128'])(
  '%s is an address or a range',
  (text) => {
    expect(isAddressOrRange(text)).toBe(true)
  },
)

test.each([
  '',
  'x',
  'loopback',
  '10.8',
  '10/8',
  '0x0a.0.0.1',
  '010.0.0.1',
  '10.0.0.256',
  '2130706433',
  '10.0.0.0/33',
  '::/129',
  '10.0.0.0/',
  '10.0.0.0/-1',
  '10.0.0.0/8/8',
  '10.0.0.0/255.0.0.0',
])('%s is neither an address nor a range', (text) => {
  expect(isAddressOrRange(text)).toBe(false)
})

test.each(['0.0.0.0/0', '10.0.0.0/0', '::/0', '10.0.0.0/00'])('%s is everybody, and so no range', (text) => {
  expect(isAddressOrRange(text)).toBe(false)
})
