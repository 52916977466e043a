import { type Static, Type } from 'typebox'
import { optional, ref } from './common.ts'
import { NewPassword, Password, RecoveryCode, Totp } from './credentials.ts'
import { Organisation, PersonName, UserProfile } from './user.ts'

const Email = Type.String({
  maxLength: 254,
  format: 'mailbox',
  description: 'The e-mail address; upper and lower case are the same.',
  examples: ['amina@example.org'],
})

export const RegisterRequest = Type.Object(
  {
    email: Email,
    password: NewPassword,
    name: PersonName,
    organisation: optional(Organisation),
  },
  {
    $id: 'RegisterRequest',
    description: 'A new account. Fields that are not listed are ignored.',
    examples: [
      {
        email: 'amina@example.org',
        password: 'teff grows at dawn',
        name: 'Amina Bekele',
        organisation: 'Oromia Extension Service',
      },
    ],
  },
)
export type RegisterRequest = Static<typeof RegisterRequest>

export const LoginRequest = Type.Object(
  {
    email: Type.String({ minLength: 1, maxLength: 254, format: 'text', examples: ['amina@example.org'] }),
    password: Password,
    totp: optional(Totp),
    recovery_code: optional(RecoveryCode),
  },
  {
    $id: 'LoginRequest',
    description:
      'An account with a second factor needs `totp` or `recovery_code` as well; with others they are ignored.',
    examples: [{ email: 'amina@example.org', password: 'teff grows at dawn' }],
  },
)
export type LoginRequest = Static<typeof LoginRequest>

export const Tokens = Type.Object(
  {
    access_token: Type.String({
      description: 'Send it as `Authorization: Bearer <access_token>`.',
      examples: ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI3ZjRjNmEwZSJ9.4BOEZ8wyhU8X1mPJ4vhD1kJhPZ6dM0mYp9oU5p3cT2E'],
    }),
    token_type: Type.Literal('Bearer'),
    expires_in: Type.Integer({ description: 'Seconds until the access token expires.', examples: [900] }),
    refresh_token: Type.String({
      description: 'Gives new tokens at `POST /auth/refresh`, once. It is valid for 30 days.',
      examples: ['4BOEZ8wyhU8X1mPJ4vhD1kJhPZ6dM0mYp9oU5p3cT2E'],
    }),
    user: ref(UserProfile),
  },
  { $id: 'Tokens', description: 'The tokens of a login, until the next refresh.' },
)
export type Tokens = Static<typeof Tokens>

export const RefreshRequest = Type.Object(
  {
    refresh_token: Type.String({
      minLength: 1,
      maxLength: 500,
      examples: ['4BOEZ8wyhU8X1mPJ4vhD1kJhPZ6dM0mYp9oU5p3cT2E'],
    }),
  },
  {
    $id: 'RefreshRequest',
    examples: [{ refresh_token: '4BOEZ8wyhU8X1mPJ4vhD1kJhPZ6dM0mYp9oU5p3cT2E' }],
  },
)
export type RefreshRequest = Static<typeof RefreshRequest>

export const PasswordChange = Type.Object(
  {
    current_password: Password,
    new_password: NewPassword,
    end_keys: optional(
      Type.Boolean({
        description: 'Whether the keys of the account end as well; they go on when left out.',
        examples: [true],
      }),
    ),
  },
  {
    $id: 'PasswordChange',
    examples: [{ current_password: 'teff grows at dawn', new_password: 'and is cut before the rain' }],
  },
)
export type PasswordChange = Static<typeof PasswordChange>

export const Reauthentication = Type.Object(
  { password: Password, totp: optional(Totp), recovery_code: optional(RecoveryCode) },
  {
    $id: 'Reauthentication',
    description:
      'An account with a second factor needs `totp` or `recovery_code` as well; with others they are ignored.',
    examples: [{ password: 'teff grows at dawn' }],
  },
)
export type Reauthentication = Static<typeof Reauthentication>

/** A token as a mail has it. */
const MailedToken = Type.String({
  minLength: 1,
  maxLength: 500,
  description: 'The token of the mail. It works once.',
  examples: ['yv0Yx1Qm2ZCkq0gkq1q8C2m4c9dXn8pY3wT5uR7eB1s'],
})

export const MailRequest = Type.Object(
  { email: Email },
  { $id: 'MailRequest', description: 'The address of the mail.', examples: [{ email: 'amina@example.org' }] },
)
export type MailRequest = Static<typeof MailRequest>

export const PasswordReset = Type.Object(
  {
    token: MailedToken,
    password: NewPassword,
    end_keys: optional(
      Type.Boolean({
        description:
          'Whether the keys of the account end, by default true: an intruder may have made or copied some. Send false after a forgotten password.',
        examples: [true],
      }),
    ),
  },
  {
    $id: 'PasswordReset',
    examples: [
      { token: 'yv0Yx1Qm2ZCkq0gkq1q8C2m4c9dXn8pY3wT5uR7eB1s', password: 'and is cut before the rain' },
    ],
  },
)
export type PasswordReset = Static<typeof PasswordReset>

export const EmailConfirmation = Type.Object(
  {
    token: MailedToken,
    password: optional({
      ...Password,
      description:
        'The password of the registration. Only needed where the e-mail was registered more than once: it says which one counts.',
    }),
  },
  {
    $id: 'EmailConfirmation',
    examples: [{ token: 'yv0Yx1Qm2ZCkq0gkq1q8C2m4c9dXn8pY3wT5uR7eB1s' }],
  },
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
