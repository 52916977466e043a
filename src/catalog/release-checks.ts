/** Checks of a release before its publication. */
const CHECKS = {
  empty: 'a layer with no values, or hardly any',
  extent: 'a grid that does not lie in the country, or covers little of it',
  labels: 'names of files and bands that contradict the manifest',
  month: 'a month that is far ahead, or older than the published one',
  names: 'inputs and scenarios that are spelled almost as published ones are',
  'not-honoured': 'masks, alpha bands and side files that were not read',
  presence: 'a value, or none, where other layers on the grid differ',
  range: 'values that are not plausible for the product',
  reading: 'what had to be assumed to read a file',
  'scenarios-alike': 'scenarios of an input that all have the same values',
  'undeclared-nodata': 'a value that looks as if it meant none',
} as const

export type CheckName = keyof typeof CHECKS

export const CHECK_NAMES = Object.keys(CHECKS) as CheckName[]

export interface ReleaseIssue {
  check: CheckName
  /** An error prevents the publication, unless its check is allowed by name. */
  level: 'error' | 'note'
  sentence: string
  layer?: { input: string | null; scenario: string | null }
  /** The figures of the sentence, for programs. */
  figures?: Record<string, number | string | null>
  /** An error that was allowed. */
  allowed: boolean
}
