import { type Static, Type } from 'typebox'

/** How bad something is. `unknown` is what could not be looked at, which may be well or not. */
export const LEVELS = ['ok', 'note', 'unknown', 'warning', 'error'] as const
export type Level = (typeof LEVELS)[number]

/** What monitoring is told, as by plugins of Nagios: it reads 0, 1, 2 and 3 as OK, WARNING, CRITICAL and UNKNOWN. */
export const EXIT_OF_LEVEL: Record<Level, number> = { ok: 0, note: 0, warning: 1, error: 2, unknown: 3 }

/** What a question has found: a sentence and, where something is to be done, what. */
export interface Finding {
  level: Level
  sentence: string
  advice: string | null
}

/** What programs read: the report, of which fields stay as they are and new ones may come. */
export const DoctorReport = Type.Object(
  {
    status: Type.Enum([...LEVELS]),
    checked_at: Type.String(),
    findings: Type.Array(
      Type.Object(
        {
          group: Type.String(),
          check: Type.String(),
          level: Type.Enum([...LEVELS]),
          sentence: Type.String({ pattern: '\\.$' }),
          advice: Type.Union([Type.String(), Type.Null()]),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
)
export type DoctorReport = Static<typeof DoctorReport>

export const ok = (sentence: string): Finding => ({ level: 'ok', sentence, advice: null })
export const note = (sentence: string, advice: string | null = null): Finding => ({
  level: 'note',
  sentence,
  advice,
})
export const warning = (sentence: string, advice: string): Finding => ({ level: 'warning', sentence, advice })
export const error = (sentence: string, advice: string): Finding => ({ level: 'error', sentence, advice })
export const unknown = (sentence: string, advice: string | null = null): Finding => ({
  level: 'unknown',
  sentence,
  advice,
})

/** The worst of some levels. */
export function worstOf(levels: Level[]): Level {
  return LEVELS[Math.max(0, ...levels.map((level) => LEVELS.indexOf(level)))] as Level
}

/** Some names in a sentence, of which there may be many. */
export function someNames(names: string[], shown = 5): string {
  const more = names.length - shown
  return more > 0 ? `${names.slice(0, shown).join(', ')} and ${more} more` : names.join(', ')
}

/** Bytes as people say them. */
export function sizeText(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB']
  const step = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(bytes, 1)) / 3)))
  const value = bytes / 1000 ** step
  return `${step === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[step]}`
}

/** A time span as people say it. */
export function spanText(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`
  if (seconds < 7200) return `${Math.round(seconds / 60)} minutes`
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} hours`
  return `${Math.round(seconds / 86_400)} days`
}
