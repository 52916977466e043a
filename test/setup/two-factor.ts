import type { App } from '#src/http/app.ts'
import { call } from './calls.ts'
import type { Person } from './people.ts'
import { codeOfStep, stepAt } from './totp.ts'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** The bytes of a secret in base32, as an app reads it. */
export function bytesOf(base32: string): Buffer {
  const bits = [...base32].map((letter) => ALPHABET.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}

/** The code that the app of a person shows now. */
export function codeNow(secret: string): string {
  return codeOfStep(bytesOf(secret), stepAt(Date.now()))
}

/** Has somebody begin to set up a second factor; returns what the app reads. */
export async function beginTwoFactor(app: App, { headers, password }: Person): Promise<string> {
  const payload = { password }
  const { status, body, text } = await call(app, 'POST /auth/two-factor', { by: { headers }, payload })
  if (status !== 200) throw new Error(text)
  return body.secret
}

/** Has somebody turn a second factor on. */
export async function turnOn(app: App, person: Person): Promise<{ secret: Buffer; recoveryCodes: string[] }> {
  const secret = await beginTwoFactor(app, person)
  const sent = { by: person, payload: { totp: codeNow(secret) } }
  const { status, body, text } = await call(app, 'POST /auth/two-factor/confirm', sent)
  if (status !== 200) throw new Error(text)
  return { secret: bytesOf(secret), recoveryCodes: body.recovery_codes }
}
