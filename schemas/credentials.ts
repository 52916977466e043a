import { Type } from 'typebox'

/** Long enough for a passphrase, short enough that hashing it is no burden. */
export const PASSWORD_LENGTH = { minimum: 10, maximum: 256 } as const

export const NewPassword = Type.String({
  minLength: PASSWORD_LENGTH.minimum,
  maxLength: PASSWORD_LENGTH.maximum,
  format: 'unicode',
  description: 'Any characters, of any script, in any mixture. The most common passwords are refused.',
  examples: ['teff grows at dawn'],
})

/** One to compare with: what it has to be like is told to those who choose one. */
export const Password = Type.String({
  minLength: 1,
  maxLength: PASSWORD_LENGTH.maximum,
  format: 'unicode',
  examples: ['teff grows at dawn'],
})

/** A code of an authenticator app, as such apps show it. */
export const Totp = Type.String({
  pattern: '^[0-9]{3} ?[0-9]{3}$',
  description: 'The code that the authenticator app shows: six digits, for 30 seconds. It works once.',
  examples: ['492039'],
})

export const RecoveryCode = Type.String({
  minLength: 1,
  maxLength: 100,
  format: 'text',
  description: 'A recovery code, in the place of that of the app. It works once.',
  examples: ['k7mq-2xwd-v3ta-5zfe'],
})
