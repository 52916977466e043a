import { createHmac, timingSafeEqual } from 'node:crypto'

/** What authenticator apps take for granted, whatever the URI says (RFC 6238). */
const STEP_SECONDS = 30
const DIGITS = 6
const ALGORITHM = 'sha1'

/** So many bytes a secret has: as many as the hash (RFC 4226, 4). */
export const SECRET_BYTES = 20

/** The step that a time lies in. */
export function stepAt(milliseconds: number): number {
  return Math.floor(milliseconds / 1000 / STEP_SECONDS)
}

/** The code of a step (RFC 4226, 5.3). */
export function codeOfStep(secret: Buffer, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const hash = createHmac(ALGORITHM, secret).update(counter).digest()
  const offset = (hash.at(-1) as number) & 0xf
  const number = hash.readUInt32BE(offset) & 0x7fffffff
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0')
}

/**
 * The step whose code it is: the present one, or the one before or after, for clocks that differ and people who
 * type slowly. Undefined where it is the code of none.
 */
export function stepOfCode(secret: Buffer, code: string, milliseconds: number): number | undefined {
  const now = stepAt(milliseconds)
  const shown = Buffer.from(code)
  return [now, now - 1, now + 1].find((step) => {
    const right = Buffer.from(codeOfStep(secret, step))
    return shown.length === right.length && timingSafeEqual(shown, right)
  })
}

/** What an app is told, mostly as a QR code. */
export function otpauthUri(secret: Buffer, account: string, issuer: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`
  const parameters = [
    `secret=${base32(secret)}`,
    `issuer=${encodeURIComponent(issuer)}`,
    'algorithm=SHA1',
    `digits=${DIGITS}`,
    `period=${STEP_SECONDS}`,
  ]
  return `otpauth://totp/${label}?${parameters.join('&')}`
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** Bytes in base32 (RFC 4648) without padding: what people can type, and apps read. */
export function base32(bytes: Buffer): string {
  let text = ''
  let bits = 0
  let value = 0
  for (const byte of bytes) {
    value = (value << 8) | byte
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += ALPHABET[(value >>> bits) & 31]
    }
    value &= (1 << bits) - 1
  }
  return bits > 0 ? text + ALPHABET[(value << (5 - bits)) & 31] : text
}
