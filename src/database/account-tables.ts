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
