import { describe, expect, test } from 'vitest'
import { otpauthUri, stepOfCode } from '#src/extensions/second-factor/totp.ts'
import { codeOfStep, stepAt } from '#test/setup/totp.ts'

/** The secret of the examples in RFC 4226 and RFC 6238. */
const SECRET = Buffer.from('12345678901234567890')

// RFC 6238, appendix B: of the eight digits there, the last six.
test.each([
  [59, '287082'],
  [1111111109, '081804'],
  [1111111111, '050471'],
  [1234567890, '005924'],
  [2000000000, '279037'],
  [20000000000, '353130'],
])('at %d s the code is %s', (seconds, code) => {
  expect(codeOfStep(SECRET, stepAt(seconds * 1000))).toBe(code)
  expect(stepOfCode(SECRET, code, seconds * 1000)).toBe(stepAt(seconds * 1000))
})

describe('a code', () => {
  const NOW = 100 * 30_000
  const stepOf = (code: string) => stepOfCode(SECRET, code, NOW)

  test.each([99, 100, 101])('is taken in the step %d, where it is the 100th', (step) => {
    expect(stepOf(codeOfStep(SECRET, step))).toBe(step)
  })

  test.each([98, 102])('is not taken in the step %d', (step) => {
    expect(stepOf(codeOfStep(SECRET, step))).toBeUndefined()
  })

  test.each(['', '1', '1234567', 'ÄÖÜ', codeOfStep(Buffer.from('another secret'), 100)])(
    'is not %j',
    (code) => {
      expect(stepOf(code)).toBeUndefined()
    },
  )
})

test('an app reads the secret and whose it is from a URI', () => {
  const uri = new URL(otpauthUri(SECRET, 'amina+1@example.org', 'Advice & more'))
  expect([uri.protocol, uri.host, decodeURIComponent(uri.pathname)]).toEqual([
    'otpauth:',
    'totp',
    '/Advice & more:amina+1@example.org',
  ])
  expect(Object.fromEntries(uri.searchParams)).toEqual({
    secret: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ',
    issuer: 'Advice & more',
    algorithm: 'SHA1',
    digits: '6',
    period: '30',
  })
})
