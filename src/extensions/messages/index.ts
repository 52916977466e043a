import type { Generated } from 'kysely'
import type { Extension } from '../extension.ts'
import { settings } from './settings.ts'

interface MessageTable {
  id: Buffer
  sender: Buffer
  arrived_at: Generated<Date>
  begun_at: Generated<Date>
  reply: string | null
  offer: object | null
  stopped: Generated<boolean>
  of_stranger: Generated<boolean>
  code: string | null
  releases: string[] | null
  answer: object | null
  rating: number | null
  observed: object | null
  told_at: Date | null
}

declare module '#src/data/tables.ts' {
  interface Tables {
    message: MessageTable
  }
}

/** Text messages by SMS, USSD and Telegram. */
export const messages: Extension = {
  name: 'messages',
  needs: ['places', 'texts'],
  guide: { path: 'messages', title: 'Text messages', before: 'gis' },
  settings,
  sql: new URL('sql/', import.meta.url),
  deletions: {
    'delete-old-messages': {
      failure: 'old messages were not deleted',
      piece: async (db) => (await (await import('./queries.ts')).deleteOldMessages(db, 500)) > 0,
    },
  },
  routes: async (app, core) => (await import('./channels.ts')).messages(app, core),
}
