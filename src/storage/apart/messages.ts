import type { ListedFile } from '../store.ts'

/** What the process of a folder is asked. A list is begun, and then gone on with until there is nothing left. */
export type Question =
  | { ask: 'read'; name: string; offset: number; length: number }
  | { ask: 'canWrite' }
  | { ask: 'list' }
  | { ask: 'next' }

export interface Answers {
  read: Uint8Array
  canWrite: boolean | null
  list: null
  next: ListedFile[]
}

/** What comes back: the answer, or why there is none. */
export type Answer =
  | { id: number; answer: Answers[keyof Answers] }
  | { id: number; failure: { isMissing: boolean; message: string } }
