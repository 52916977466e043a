import { type Static, Type } from 'typebox'
import { ref, Time } from './common.ts'

const OrNull = (description: string, example: string) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], description, examples: [example] })

export const Session = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    created_at: Time,
    last_used_at: Type.String({
      ...Time,
      description: 'When it was begun or continued last (`POST /auth/refresh`).',
    }),
    expires_at: Time,
    network: OrNull(
      'Where that came from: an IPv4 address, or the /64 of an IPv6 one. Null where it is not known.',
      '192.0.2.17',
    ),
    user_agent: OrNull('How the client names itself, in 200 characters at most.', 'Mozilla/5.0 (Android 15)'),
    current: Type.Boolean({ description: 'Whether it is the one that asks.' }),
  },
  { $id: 'Session', description: 'A login that has not ended.' },
)
export type Session = Static<typeof Session>

export const SessionList = Type.Object(
  {
    items: Type.Array(ref(Session)),
    next_cursor: Type.Unsafe<null>({ type: 'null', description: 'Always null: there are never more.' }),
  },
  { $id: 'SessionList', description: 'The sessions, the one that was used last first.' },
)
export type SessionList = Static<typeof SessionList>

export const sessionSchemas = [Session, SessionList]
