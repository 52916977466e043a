import { expect, test } from 'vitest'
import { isPublicAddress } from '#src/lib/network.ts'

test.each([
  '8.8.8.8',
  '1.1.1.1',
  '172.15.255.255',
  '172.32.0.1',
  '100.63.255.255',
  '100.128.0.1',
  '223.255.255.254',
  '2606:4700::1111',
  '2a00:1450:4001::1',
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
])('%s is not', (address) => {
  expect(isPublicAddress(address)).toBe(false)
})
