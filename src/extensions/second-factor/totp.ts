import { Secret, TOTP } from 'otpauth'

/** Settings that authenticator apps assume, whatever the URI has (RFC 6238). */
const TOTP_SETTINGS = { algorithm: 'SHA1', digits: 6, period: 30 }

/** As many as the hash (RFC 4226, 4). */
export const SECRET_BYTES = 20

/** The step of a code: the present one, or a neighbour for slow typing and different clocks. */
export function stepOfCode(secret: Buffer, code: string, milliseconds: number): number | undefined {
  const options = { secret: createSecret(secret), token: code, timestamp: milliseconds, window: 1 }
  const difference = TOTP.validate({ ...TOTP_SETTINGS, ...options })
  if (difference === null) return undefined
  return TOTP.counter({ ...TOTP_SETTINGS, timestamp: milliseconds }) + difference
}

/** For apps, mostly as a QR code. */
export function otpauthUri(secret: Buffer, account: string, issuer: string): string {
  return new TOTP({ ...TOTP_SETTINGS, secret: createSecret(secret), label: account, issuer }).toString()
}

/** Base32 (RFC 4648) without padding, for people and apps. */
export function base32(bytes: Buffer): string {
  return createSecret(bytes).base32
}

/** The library takes whole buffers; those of Node are parts. */
function createSecret(bytes: Buffer): Secret {
  return new Secret({ buffer: Uint8Array.from(bytes).buffer })
}
