import { type Static, Type } from 'typebox'
import { optional } from './common.ts'
import { Password, RecoveryCode, Totp } from './credentials.ts'

export const TwoFactorStatus = Type.Object(
  {
    enabled: Type.Boolean({ description: 'Whether a login needs a code.' }),
    required: Type.Boolean({
      description: 'Whether the account needs a second factor to do what its role allows.',
    }),
    recovery_codes: Type.Integer({ description: 'How many recovery codes are left.', examples: [10] }),
  },
  { $id: 'TwoFactorStatus', examples: [{ enabled: true, required: false, recovery_codes: 10 }] },
)
export type TwoFactorStatus = Static<typeof TwoFactorStatus>

export const TwoFactorRequest = Type.Object(
  { password: Password },
  { $id: 'TwoFactorRequest', examples: [{ password: 'teff grows at dawn' }] },
)
export type TwoFactorRequest = Static<typeof TwoFactorRequest>

export const TwoFactorSecret = Type.Object(
  {
    secret: Type.String({
      description: 'For apps into which it has to be typed: base32.',
      examples: ['JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'],
    }),
    uri: Type.String({
      description: 'For apps that read QR codes: show it as one.',
      examples: [
        'otpauth://totp/Agricultural%20advisory%20service:amina%40example.org?issuer=Agricultural%20advisory%20service&secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&algorithm=SHA1&digits=6&period=30',
      ],
    }),
  },
  { $id: 'TwoFactorSecret', description: 'The secret of the authenticator app. It is shown once.' },
)
export type TwoFactorSecret = Static<typeof TwoFactorSecret>

export const TwoFactorConfirmation = Type.Object(
  { totp: Totp },
  { $id: 'TwoFactorConfirmation', examples: [{ totp: '492039' }] },
)
export type TwoFactorConfirmation = Static<typeof TwoFactorConfirmation>

export const RecoveryCodes = Type.Object(
  {
    recovery_codes: Type.Array(RecoveryCode, {
      description: 'Ten codes in case the app is lost. They are shown once: print them, or write them down.',
    }),
  },
  { $id: 'RecoveryCodes' },
)
export type RecoveryCodes = Static<typeof RecoveryCodes>

export const TwoFactorRemoval = Type.Object(
  { password: Password, totp: optional(Totp), recovery_code: optional(RecoveryCode) },
  {
    $id: 'TwoFactorRemoval',
    description: 'The password, and `totp` or `recovery_code`.',
    examples: [{ password: 'teff grows at dawn', totp: '492039' }],
  },
)
export type TwoFactorRemoval = Static<typeof TwoFactorRemoval>

export const twoFactorSchemas = [
  TwoFactorStatus,
  TwoFactorRequest,
  TwoFactorSecret,
  TwoFactorConfirmation,
  RecoveryCodes,
  TwoFactorRemoval,
]
