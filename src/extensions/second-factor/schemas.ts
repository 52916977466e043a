import { type Static, Type } from 'typebox'
import { Password } from '#schemas/auth.ts'
import * as t from '#schemas/common.ts'

export const TOTP_DIGITS = '^[0-9]{3} ?[0-9]{3}$'

const Totp = Type.String({
  pattern: TOTP_DIGITS,
  description: 'The code that the authenticator app shows: six digits, for 30 seconds. It works once.',
  examples: ['492039'],
})

const RecoveryCode = t.text(
  100,
  'A recovery code, in the place of that of the app. It works once.',
  'k7mq-2xwd-v3ta-5zfe',
)

export const SecondFactor = { totp: t.optional(Totp), recovery_code: t.optional(RecoveryCode) }

export const TwoFactorStatus = t.component(
  'TwoFactorStatus',
  {
    enabled: t.boolean('Whether a login needs a code.'),
    required: t.boolean('Whether the account needs a second factor to do what its role allows.'),
    recovery_codes: t.integer('How many recovery codes are left.', 10),
  },
  { enabled: true, required: false, recovery_codes: 10 },
)
export type TwoFactorStatus = Static<typeof TwoFactorStatus>

export const TwoFactorRequest = t.component(
  'TwoFactorRequest',
  { password: Password },
  { password: 'teff grows at dawn' },
)

export const TwoFactorSecret = t.component(
  'TwoFactorSecret',
  'The secret of the authenticator app. It is shown once.',
  {
    secret: t.string('For apps into which it has to be typed: base32.', 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'),
    uri: t.string(
      'For apps that read QR codes: show it as one.',
      'otpauth://totp/Agricultural%20advisory%20service:amina%40example.org?issuer=Agricultural%20advisory%20service&secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&algorithm=SHA1&digits=6&period=30',
    ),
  },
)
export type TwoFactorSecret = Static<typeof TwoFactorSecret>

export const TwoFactorConfirmation = t.component('TwoFactorConfirmation', { totp: Totp }, { totp: '492039' })

export const RecoveryCodes = t.component('RecoveryCodes', {
  recovery_codes: Type.Array(RecoveryCode, {
    description: 'Ten codes in case the app is lost. They are shown once: print them, or write them down.',
  }),
})
export type RecoveryCodes = Static<typeof RecoveryCodes>

export const TwoFactorRemoval = t.component(
  'TwoFactorRemoval',
  'The password, and `totp` or `recovery_code`.',
  { password: Password, ...SecondFactor },
  { password: 'teff grows at dawn', totp: '492039' },
)

export const twoFactorSchemas = [
  TwoFactorStatus,
  TwoFactorRequest,
  TwoFactorSecret,
  TwoFactorConfirmation,
  RecoveryCodes,
  TwoFactorRemoval,
]
