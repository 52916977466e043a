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
export const Password = Type.String({
  minLength: 1,
  maxLength: LONGEST_PASSWORD,
  format: 'unicode',
  examples: ['teff grows at dawn'],
})

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
  {
    email: Type.String({ minLength: 1, maxLength: 254, format: 'text', examples: ['amina@example.org'] }),
    password: Password,
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
  { password: Password },
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
    'Where that came from: an IPv4 address, or the /64 of an IPv6 one. Null where it was not recorded.',
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
