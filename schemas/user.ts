import { type Static, Type } from 'typebox'
import * as t from './common.ts'

export const ROLES = ['user', 'admin'] as const
export type Role = (typeof ROLES)[number]

export const PersonName = t.text(200, 'The name of the person.', 'Amina Bekele')

export const Organisation = t.text(200, 'The employer of the person.', 'Oromia Extension Service')

export const UserProfile = t.component(
  'UserProfile',
  'An account, as its owner sees it.',
  {
    id: Type.String({ format: 'uuid' }),
    email: Type.String(),
    name: Type.String(),
    organisation: t.orNull(Type.String()),
    email_confirmed: t.boolean(
      'Whether the e-mail is confirmed (`POST /auth/confirm`); true where the service asks for no confirmation.',
    ),
    role: t.oneOf(ROLES, 'The rights of the account. Only an operator changes them.'),
    created_at: t.Time,
  },
  {
    id: '7f4c6a0e-6b0f-4a58-9d0c-2f1f6f0c9a11',
    email: 'amina@example.org',
    name: 'Amina Bekele',
    organisation: 'Oromia Extension Service',
    email_confirmed: true,
    role: 'user',
    created_at: '2026-07-01T08:30:00.000Z',
  },
)
export type UserProfile = Static<typeof UserProfile>

export const ProfileChanges = t.component(
  'ProfileChanges',
  'The changes. Other fields stay as they are; unknown ones are ignored.',
  {
    name: t.optional(PersonName),
    organisation: Type.Optional(
      Type.Unsafe<string | null>({
        ...Organisation,
        type: ['string', 'null'],
        description: 'The employer of the person; null for none.',
      }),
    ),
  },
  { name: 'Amina B. Bekele', organisation: null },
)
export type ProfileChanges = Static<typeof ProfileChanges>

export const DeletionReport = t.component(
  'DeletionReport',
  'The result of the deletion of an account.',
  {
    removed: Type.Record(Type.String(), Type.Integer(), {
      description: 'How many records of each kind are gone.',
    }),
    anonymised: Type.Record(Type.String(), Type.Integer(), {
      description: 'How many records of each kind stay with nothing that leads to the person.',
    }),
  },
  {
    removed: { accounts: 1, sessions: 2, keys: 1, history: 40, feedback: 3, usage: 12 },
    anonymised: {},
  },
)

export const userSchemas = [ProfileChanges, DeletionReport]
