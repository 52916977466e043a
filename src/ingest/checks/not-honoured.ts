import type { Check, FileFacts } from './facts.ts'

/** What files say of their pixels, and was not read: pixels that they hide may count as values. */
export const notHonoured: Check<FileFacts> = (release) =>
  release.notHonoured.map((sentence) => ({ check: 'not-honoured', level: 'error', sentence }))
