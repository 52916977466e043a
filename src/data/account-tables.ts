import type { Generated } from 'kysely'
import type { Scope } from '#schemas/keys.ts'
import type { Role } from '#schemas/user.ts'

// The tables of accounts and of those who call; see `tables.ts`.

export interface UserTable {
  id: Generated<string>
  email: string
  email_key: string
  password_hash: string
  name: string
  organisation: string | null
  role: Generated<Role>
  created_at: Generated<Date>
  email_confirmed: Generated<boolean>
}

export interface SessionTable {
  id: Generated<string>
  user_id: string
  created_at: Generated<Date>
  expires_at: Date
  ended_at: Date | null
  authenticated_at: Generated<Date>
  last_used_at: Generated<Date>
  network: string | null
  user_agent: string | null
  token_family: Buffer | null
}

export interface RefreshTokenTable {
  hash: Buffer
  session_id: string
  expires_at: Date
  used_at: Date | null
  successor_salt: Buffer | null
}

export interface AccountTokenTable {
  hash: Buffer
  user_id: string
  purpose: 'password_reset' | 'email_confirmation'
  expires_at: Date
}

export interface PendingRegistrationTable {
  id: Generated<string>
  token_hash: Buffer
  email: string
  email_key: string
  password_hash: string
  name: string
  organisation: string | null
  created_at: Generated<Date>
  expires_at: Date
}

export interface ApiKeyTable {
  id: Generated<string>
  user_id: string
  name: string
  hint: string
  hash: Buffer
  created_at: Generated<Date>
  expires_at: Date | null
  last_used_at: Date | null
  scopes: Generated<Scope[]>
  parent_id: string | null
}

export interface TwoFactorTable {
  user_id: string
  secret: Buffer
  begun_at: Generated<Date>
  confirmed_at: Date | null
  last_step: Generated<number>
}

export interface AuthThrottleTable {
  subject: Buffer
  failures: number
  first_failure_at: Date
  last_failure_at: Date
  blocked_until: Date
}

export interface IdempotencyRecordTable {
  id: Buffer
  user_id: string | null
  attempt: string
  begun_at: Generated<Date>
  answer: Buffer | null
}

/** What is audited, and how the log says it. */
export const AUDIT_KINDS = {
  login: 'a session was begun',
  login_failed: 'a login failed',
  logout: 'a session was ended',
  session_ended: 'a session was ended from another, or by its id',
  other_sessions_ended: 'all other sessions were ended',
  reauthenticated: 'a password was given again',
  refresh_token_reused: 'a refresh token was used twice: its session was ended',
  registration_kept: 'an e-mail was registered, and has to be confirmed',
  account_made: 'an account was made',
  account_deleted: 'an account was deleted',
  email_confirmed: 'an e-mail was confirmed',
  password_changed: 'a password was changed',
  password_refused: 'the current password was wrong',
  password_reset: 'a password was reset',
  password_reset_issued: 'an operator made a token for a new password',
  code_asked: 'the password was right, and a second factor was asked for',
  code_refused: 'the second factor was wrong',
  recovery_code_used: 'a recovery code was used',
  two_factor_on: 'a second factor was turned on',
  two_factor_off: 'a second factor was turned off',
  two_factor_reset: 'an operator turned a second factor off',
  role_changed: 'a role was changed',
  key_made: 'a key was made',
  key_deleted: 'a key was deleted',
  keys_ended: 'all keys of an account ended with its password',
  subscription_made: 'a subscription was made',
  subscription_deleted: 'a subscription was deleted',
  subscription_enabled: 'a subscription was enabled again',
  subscription_secret_renewed: 'the secret of a subscription was renewed',
  release_published: 'a release was published',
  release_withdrawn: 'a release was withdrawn',
  release_scheduled: 'a release was scheduled to be published',
  release_unscheduled: 'a release is not to be published at its time any more',
  release_refused: 'a scheduled release was refused when it was to be published',
  release_deleted: 'a release was deleted',
  release_moved: 'the tiles of a release were moved into files, or back',
  files_swept: 'files that no release had were removed',
  boundaries_loaded: 'boundaries were loaded',
  reference_changed: 'countries, crops or plausible ranges were changed',
} as const

export type AuditKind = keyof typeof AUDIT_KINDS

export interface AuditRecordTable {
  id: Generated<number>
  at: Generated<Date>
  kind: AuditKind
  user_id: string | null
  session_id: string | null
  key_id: string | null
  network: string | null
  request_id: string | null
  operator: string | null
  detail: object | null
}
