import { Secret, TOTP } from 'otpauth'

/** What authenticator apps take for granted, whatever the URI says (RFC 6238). */
const TOTP_SETTINGS = { algorithm: 'SHA1', digits: 6, period: 30 }

/** So many bytes a secret has: as many as the hash (RFC 4226, 4). */
export const SECRET_BYTES = 20

/**
 * The step whose code it is: the present one, or the one before or after, for clocks that differ and people who
 * type slowly. Undefined where it is the code of none.
 */
export function stepOfCode(secret: Buffer, code: string, milliseconds: number): number | undefined {
  const asked = { secret: secretOf(secret), token: code, timestamp: milliseconds, window: 1 }
  const difference = TOTP.validate({ ...TOTP_SETTINGS, ...asked })
  if (difference === null) return undefined
  return TOTP.counter({ ...TOTP_SETTINGS, timestamp: milliseconds }) + difference
}

/** What an app is told, mostly as a QR code. */
export function otpauthUri(secret: Buffer, account: string, issuer: string): string {
  return new TOTP({ ...TOTP_SETTINGS, secret: secretOf(secret), label: account, issuer }).toString()
}

/** Bytes in base32 (RFC 4648) without padding: what people can type, and apps read. */
export function base32(bytes: Buffer): string {
  return secretOf(bytes).base32
}

/** The library takes whole buffers, of which those of Node are parts. */
function secretOf(bytes: Buffer): Secret {
  return new Secret({ buffer: Uint8Array.from(bytes).buffer })
}
