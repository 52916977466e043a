import { ENGLISH } from './languages/en.ts'
import type { Messages } from './languages/messages.ts'

/** The languages that there are texts in, the one that is taken where no other is wanted first. */
export const LANGUAGES: readonly [Messages, ...Messages[]] = [ENGLISH]
