import type { Generated } from 'kysely'
import type { Extension } from '../extension.ts'
import { FIELD_QUOTA, MOST_FIELDS } from './schemas.ts'

interface FieldCollectionTable {
  id: Generated<number>
  user_id: string
  name: string
  state: Generated<'draft' | 'kept' | 'gone'>
  fields: Generated<number>
  bytes: Generated<number>
  changed_at: Generated<Date>
}

declare module '#src/data/tables.ts' {
  interface Tables {
    field_collection: FieldCollectionTable
    /** No query is built on it: statements are written out. */
    field: object
    field_weights: { collection_id: number; page: number; grid: string; ids: Buffer; weights: Buffer }
  }
}

const IN_COLLECTIONS =
  "collection_id in (select id from field_collection where user_id = :user and state = 'kept')"

/** Collections of fields that accounts keep. */
export const fields: Extension = {
  name: 'fields',
  needs: ['changes'],
  accountLimits: {
    TOO_MANY_FIELDS: {
      of: 'fields',
      most: FIELD_QUOTA.fields,
      status: 413,
      meaning: 'The call, or the account with it, has more fields than the limit.',
      example: `A call may have ${MOST_FIELDS} fields, and an account ${FIELD_QUOTA.fields} fields of ${FIELD_QUOTA.bytes} bytes in all: delete a collection, or send less.`,
    },
  },
  part: 'fields',
  tag: { name: 'fields', description: 'Your own collections of fields.', before: 'history' },
  pages: [{ path: '/account/fields', script: 'fields/main.bundle.js' }],
  sql: new URL('sql/', import.meta.url),
  accounts: {
    rows: {
      field_collection: "user_id = :user and state = 'kept'",
      field: IN_COLLECTIONS,
      field_weights: IN_COLLECTIONS,
    },
    removePiece: async (db) => (await import('./queries.ts')).removeFieldPiece(db),
    leftIn: 'field_collection',
  },
  deletions: {
    'remove-fields': {
      atOnce: true,
      failure: 'fields of deleted collections were not deleted',
      piece: async (db) => (await import('./queries.ts')).removeFieldPiece(db),
    },
  },
  places: async () => (await import('./saved.ts')).savedFields,
  routes: async (app, core) => (await import('./routes.ts')).fieldRoutes(app, core),
}
