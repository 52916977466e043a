import { expect, test } from 'vitest'
import { hashPassword, isOutdated, NOBODYS_HASH, verifyPassword } from '#src/accounts/credentials.ts'

const PASSWORD = 'teff grows at dawn'

/** Made by another implementation, @node-rs/argon2 2.2.1. */
const FROM_ELSEWHERE: [string, string, string][] = [
  [
    'of today',
    PASSWORD,
    '$argon2id$v=19$m=19456,t=2,p=1$8WQjmG8J/oDN1jlf6Tz17w$pYs/yaF0njcMTY1eoTXYoSLjmkjfqFWX4mKBo6fIj+c',
  ],
  [
    'of today, in Amharic',
    'ጤፍ በጠዋት ይበቅላል',
    '$argon2id$v=19$m=19456,t=2,p=1$OOPP7EfonObThzRMl2iv0Q$KnBjL8yZBgYMnppqaWImk2tgiWzB3QGfxZubcriPvb0',
  ],
  [
    'weaker',
    PASSWORD,
    '$argon2id$v=19$m=8192,t=1,p=1$Sa0mU/cOQm6OKMLNJo9flw$j9Z7M0Y7mSe/Jf3dtg8ZcMmWIOP/F3W7XOuYlK1cfFs',
  ],
  [
    'with four lanes',
    PASSWORD,
    '$argon2id$v=19$m=8192,t=3,p=4$kJDcpElLrPDC0fU15LDY3Q$U04tNfrMDqJMUMIdylrAbkEeopKIVCLfuDVsjlBLl1U',
  ],
]

test.each(FROM_ELSEWHERE)('a hash with parameters %s verifies', async (_, password, hash) => {
  await expect(verifyPassword(hash, password)).resolves.toBe(true)
  await expect(verifyPassword(hash, `${password}.`)).resolves.toBe(false)
})

test('a hash names its parameters in the order of the reference implementation', async () => {
  const hash = await hashPassword(PASSWORD)
  expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
  expect(isOutdated(hash)).toBe(false)
  expect(FROM_ELSEWHERE.map(([, , other]) => isOutdated(other))).toEqual([false, false, true, true])
})

test('the same password is never hashed to the same text', async () => {
  expect(await hashPassword(PASSWORD)).not.toBe(await hashPassword(PASSWORD))
})

test('a password that nobody has is compared as any other', async () => {
  await expect(verifyPassword(NOBODYS_HASH, PASSWORD)).resolves.toBe(false)
})
