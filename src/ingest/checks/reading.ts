import type { Check, FileFacts } from './facts.ts'

/** What had to be assumed to read the files. */
export const reading: Check<FileFacts> = ({ notes }) =>
  notes.map((sentence) => ({ check: 'reading', level: 'note', sentence }))
