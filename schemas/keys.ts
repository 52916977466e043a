import { type Static, Type } from 'typebox'
import * as t from './common.ts'

/** What a key may be allowed. Sessions may do all of it, as far as their user may. */
export const SCOPES = ['advisory', 'history', 'account', 'admin'] as const
export type Scope = (typeof SCOPES)[number]

/** What a key may do of which nothing else is said: nothing that outlives it. */
export const DEFAULT_SCOPES: readonly Scope[] = ['advisory', 'history']

/** So many days of usage are shown, today (UTC) included. */
export const USAGE_DAYS = 30

const ScopeName = t.oneOf(
  SCOPES,
  '`advisory`: advice and places. `history`: answers are stored; they may be read, changed, deleted. `account`: profile and list of keys may be read. `admin`: the rights of an admin, within the other scopes; only admins give it. Each operation says which it takes.',
)

export const ApiKeyRequest = t.component(
  'ApiKeyRequest',
  {
    name: t.text(100, 'The purpose of the key.', 'Dashboard of the ministry'),
    expires_in_days: t.optional(
      Type.Integer({
        minimum: 1,
        maximum: 3650,
        description: 'How long the key is valid. Until it is deleted when left out.',
      }),
    ),
    scopes: t.optional(
      Type.Array(ScopeName, {
        minItems: 1,
        description: `What the key may do: ${DEFAULT_SCOPES.join(' and ')} when left out.`,
      }),
    ),
  },
  { name: 'Dashboard of the ministry', expires_in_days: 365, scopes: ['advisory'] },
)
export type ApiKeyRequest = Static<typeof ApiKeyRequest>

const described = {
  id: Type.String({ format: 'uuid' }),
  name: Type.String({ examples: ['Dashboard of the ministry'] }),
  hint: t.string('The beginning of the key.', 'agro_Zk3v'),
  scopes: Type.Array(ScopeName, { description: 'The scopes of the key.' }),
  made_by: t.nullable(
    Type.String({ format: 'uuid' }),
    'The id of the key that made it, with which it ends; null where its owner was logged in, as it takes now.',
  ),
  created_at: t.Time,
  expires_at: t.nullable(t.Time, 'Null where it does not expire.'),
  last_used_at: t.nullable(t.Time, 'Accurate to a minute.'),
}

const Day = Type.Object({
  day: Type.String({ format: 'date', examples: ['2026-07-01'] }),
  requests: Type.Integer({ minimum: 1 }),
})

const Usage = Type.Array(Day, {
  description: `The number of requests with the key on each of the last ${USAGE_DAYS} days (UTC) with any, refused ones included.`,
})

export const ApiKey = t.component('ApiKey', 'A key, without the key itself.', { ...described, usage: Usage })
export type ApiKey = Static<typeof ApiKey>

export const NewApiKey = t.component('NewApiKey', 'A key that was just made.', {
  ...described,
  key: t.string(
    'The key. Keep it now: it is never shown again.',
    'agro_Zk3vQ1sPq7mYp9oU5p3cT2E4BOEZ8wyhU8X1mPJ4vh',
  ),
})
export type NewApiKey = Static<typeof NewApiKey>

export const ApiKeyList = t.onePage(ApiKey, 'The keys, the newest first.')
export type ApiKeyList = Static<typeof ApiKeyList>

export const keySchemas = [ApiKeyRequest, ApiKey, NewApiKey, ApiKeyList]
