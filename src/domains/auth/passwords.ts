import { randomBytes } from 'node:crypto'
import { hash, verify } from 'argon2'
import { emailKey } from '#src/domains/user/queries.ts'
import { ApiError } from '#src/errors.ts'
import { isCommonPassword } from './common-passwords.ts'

/**
 * OWASP's first choice for argon2id, which is what the package hashes with; the memory is in KiB.
 *
 * The package stays at 0.44: the binaries of 0.45 crash Node 20 unless a compiler makes others during
 * the installation, and its hashes name the parameters in another order than the one below.
 */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

const { memoryCost, timeCost, parallelism } = PARAMETERS
const PREFIX = `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$`

/**
 * A hash that no password has, for accounts that do not exist: to compare with it takes as long as with
 * a real one, so that an answer's time does not say which accounts there are.
 */
export const NOBODYS_HASH = `${PREFIX}${randomText(16)}$${randomText(32)}`

function randomText(bytes: number): string {
  return randomBytes(bytes).toString('base64').replace(/=+$/, '')
}

/** Hashes a password with a salt of its own; the result says how, in PHC notation. */
export function hashPassword(password: string): Promise<string> {
  return hash(sameOnEveryKeyboard(password), PARAMETERS)
}

/** Whether a password is the one that was hashed; compares in constant time. */
export function verifyPassword(passwordHash: string, password: string): Promise<boolean> {
  return verify(passwordHash, sameOnEveryKeyboard(password))
}

/** Whether a hash was made with other parameters than new ones are. */
export function isOutdated(passwordHash: string): boolean {
  return !passwordHash.startsWith(PREFIX)
}

/** Systems differ in how they compose the same letters (NIST SP 800-63B asks for NFKC or NFKD). */
function sameOnEveryKeyboard(password: string): string {
  return password.normalize('NFKC')
}

/** Refuses the passwords that are tried first: the common ones, and what is known of the person. */
export async function refuseGuessable(
  field: string,
  password: string,
  known: (string | null)[],
): Promise<void> {
  const isKnown = known.some((text) => text !== null && emailKey(text) === emailKey(password))
  if (!isKnown && !(await isCommonPassword(password))) return
  throw ApiError.invalid(
    field,
    isKnown ? 'must not be your e-mail or name' : 'is one of the most common passwords',
  )
}
