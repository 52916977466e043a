import { type Static, Type } from 'typebox'
import * as t from './common.ts'
import { Organisation, PersonName, UserProfile } from './user.ts'

/** Short enough that hashing it is no burden. */
const LONGEST_PASSWORD = 256

const NewPassword = Type.String({
  minLength: 10,
  maxLength: LONGEST_PASSWORD,
  format: 'unicode',
  description: 'Any characters, of any script, in any mixture. The most common passwords are refused.',
  examples: ['teff grows at dawn'],
})

/** A password to compare with; the rules are stated where one is chosen. */
const Password = Type.String({
  minLength: 1,
  maxLength: LONGEST_PASSWORD,
  format: 'unicode',
  examples: ['teff grows at dawn'],
})

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

const SecondFactor = { totp: t.optional(Totp), recovery_code: t.optional(RecoveryCode) }

const Email = Type.String({
  maxLength: 254,
  format: 'mailbox',
  description: 'The e-mail address; upper and lower case are the same.',
  examples: ['amina@example.org'],
})

export const RegisterRequest = t.component(
  'RegisterRequest',
  'A new account. Fields that are not listed are ignored.',
  {
    email: Email,
    password: NewPassword,
    name: PersonName,
    organisation: t.optional(Organisation),
  },
  {
    email: 'amina@example.org',
    password: 'teff grows at dawn',
    name: 'Amina Bekele',
    organisation: 'Oromia Extension Service',
  },
)
export type RegisterRequest = Static<typeof RegisterRequest>

export const LoginRequest = t.component(
  'LoginRequest',
  'An account with a second factor needs `totp` or `recovery_code` as well; with others they are ignored.',
  {
    email: Type.String({ minLength: 1, maxLength: 254, format: 'text', examples: ['amina@example.org'] }),
    password: Password,
    ...SecondFactor,
  },
  { email: 'amina@example.org', password: 'teff grows at dawn' },
)
export type LoginRequest = Static<typeof LoginRequest>

export const Tokens = t.component('Tokens', 'The tokens of a login, until the next refresh.', {
  access_token: t.string(
    'Send it as `Authorization: Bearer <access_token>`.',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI3ZjRjNmEwZSJ9.4BOEZ8wyhU8X1mPJ4vhD1kJhPZ6dM0mYp9oU5p3cT2E',
  ),
  token_type: Type.Literal('Bearer'),
  expires_in: t.integer('Seconds until the access token expires.', 900),
  refresh_token: t.string(
    'Gives new tokens at `POST /auth/refresh`, once. It is valid for 30 days.',
    '4BOEZ8wyhU8X1mPJ4vhD1kJhPZ6dM0mYp9oU5p3cT2E',
  ),
  user: t.ref(UserProfile),
})
export type Tokens = Static<typeof Tokens>

export const RefreshRequest = t.component(
  'RefreshRequest',
  {
    refresh_token: Type.String({ minLength: 1, maxLength: 500 }),
  },
  { refresh_token: '4BOEZ8wyhU8X1mPJ4vhD1kJhPZ6dM0mYp9oU5p3cT2E' },
)
export type RefreshRequest = Static<typeof RefreshRequest>

const endKeys = (description: string) => t.optional(t.boolean(description))

export const PasswordChange = t.component(
  'PasswordChange',
  {
    current_password: Password,
    new_password: NewPassword,
    end_keys: endKeys('Whether the keys of the account end as well; they go on when left out.'),
  },
  { current_password: 'teff grows at dawn', new_password: 'and is cut before the rain' },
)
export type PasswordChange = Static<typeof PasswordChange>

export const Reauthentication = t.component(
  'Reauthentication',
  'An account with a second factor needs `totp` or `recovery_code` as well; with others they are ignored.',
  { password: Password, ...SecondFactor },
  { password: 'teff grows at dawn' },
)

const MailedToken = Type.String({
  minLength: 1,
  maxLength: 500,
  description: 'The token of the mail. It works once.',
  examples: ['yv0Yx1Qm2ZCkq0gkq1q8C2m4c9dXn8pY3wT5uR7eB1s'],
})

export const MailRequest = t.component(
  'MailRequest',
  'The address of the mail.',
  { email: Email },
  { email: 'amina@example.org' },
)

export const PasswordReset = t.component(
  'PasswordReset',
  {
    token: MailedToken,
    password: NewPassword,
    end_keys: endKeys(
      'Whether the keys of the account end, by default true: an intruder may have made or copied some. Send false after a forgotten password.',
    ),
  },
  { token: 'yv0Yx1Qm2ZCkq0gkq1q8C2m4c9dXn8pY3wT5uR7eB1s', password: 'and is cut before the rain' },
)
export type PasswordReset = Static<typeof PasswordReset>

export const EmailConfirmation = t.component(
  'EmailConfirmation',
  {
    token: MailedToken,
    password: t.optional({
      ...Password,
      description:
        'The password of the registration. Only needed where the e-mail was registered more than once: it says which one counts.',
    }),
  },
  { token: 'yv0Yx1Qm2ZCkq0gkq1q8C2m4c9dXn8pY3wT5uR7eB1s' },
)
export type EmailConfirmation = Static<typeof EmailConfirmation>

export const authSchemas = [
  RegisterRequest,
  LoginRequest,
  Tokens,
  RefreshRequest,
  PasswordChange,
  Reauthentication,
  MailRequest,
  PasswordReset,
  EmailConfirmation,
]

export const Session = t.component('Session', 'A login that has not ended.', {
  id: Type.String({ format: 'uuid' }),
  created_at: t.Time,
  last_used_at: Type.String({
    ...t.Time,
    description: 'When it was begun or continued last (`POST /auth/refresh`).',
  }),
  expires_at: t.Time,
  network: t.nullable(
    Type.String(),
    'Where that came from: an IPv4 address, or the /64 of an IPv6 one. Null where it is not known.',
    '192.0.2.17',
  ),
  user_agent: t.nullable(
    Type.String(),
    'How the client names itself, in 200 characters at most.',
    'Mozilla/5.0 (Android 15)',
  ),
  current: t.boolean('Whether it is the one that asks.'),
})
export type Session = Static<typeof Session>

export const SessionList = t.onePage(Session, 'The sessions, the one that was used last first.')
export type SessionList = Static<typeof SessionList>

export const sessionSchemas = [Session, SessionList]

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
