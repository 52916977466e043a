import type { ErrorCode } from '#src/errors.ts'

/** All texts of short answers in one language: a translation is a file with these. */
export interface Messages {
  /** As `Accept-Language` names it. */
  language: string
  /** A number as the answer has it, with the decimal sign of the language. */
  number(value: number): string
  /** What a product's answer begins with, by its code; another begins with its code. */
  products: Readonly<Record<string, string>>
  /** Names of scenarios; others are as their source has them. */
  scenarios: Readonly<Record<string, string>>
  /** The month of a forecast, from `2026-07`. */
  month(month: string): string
  /** Begins what is told of a product: its name, then its month and the area of quantities, as far as there are any. */
  head(parts: string[]): string
  area(value: string, unit: string): string
  bags(count: string): string
  /** Says before anything else that it is demonstration data, or older than its season. */
  synthetic: string
  stale: string
  /** Stands for what has been left out. */
  more: string
  /** Where not even one entry fits. */
  tooLong: string
  /** Why there is no value, by the code of the error. */
  reasons: Readonly<Partial<Record<ErrorCode, string>>>
}
