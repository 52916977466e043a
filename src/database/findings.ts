/** What is looked at before a release is published, by the names that operators allow it by, and what each finds. */
const CHECKS = {
  empty: 'a layer with no values, or hardly any',
  extent: 'a grid that does not lie in the country, or covers little of it',
  month: 'a month that is far ahead, or older than what is published',
  names: 'inputs and scenarios that are spelled almost as published ones are',
  'not-honoured': 'masks, alpha bands and side files that were not read',
  range: 'values that are not plausible for the product',
  reading: 'what had to be assumed to read a file',
  'scenarios-alike': 'scenarios of an input that all have the same values',
  'undeclared-nodata': 'a value that looks as if it meant none',
} as const

export type CheckName = keyof typeof CHECKS

export const CHECK_NAMES = Object.keys(CHECKS) as CheckName[]

/** What a check has found in a release. */
export interface Finding {
  check: CheckName
  /** An error keeps the release from being published, unless its check is allowed by name. */
  level: 'error' | 'note'
  sentence: string
  /** The layer that it is about, where it is about one. */
  layer?: { input: string | null; scenario: string | null }
  /** The figures of the sentence, for programs. */
  figures?: Record<string, number | string | null>
  /** Whether it is an error that was allowed. */
  allowed: boolean
}
