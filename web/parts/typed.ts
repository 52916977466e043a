/** Digits with marks or spaces, also narrow and unbreakable ones, between them. */
const TYPED = /^(?:\d+(?:[\s.,]\d+)*[.,]?|[.,]\d+)$/
const PARTS = /^(.*?)(?:[.,](\d*))?$/
const GROUPED = /^[1-9]\d{0,2}(?:([\s.,])\d{3})(?:\1\d{3})*$/

/**
 * Reads a number as people type it in any language: "1200.5", "1200,5", "1 200,5", "1.200,5" or "1,200.5". A mark alone
 * before three digits may be one of thousands or that of decimals.
 *
 * @param isLarge takes such a mark for one of thousands
 * @returns undefined for a text that is none, or has a sign
 */
export function readTypedNumber(text: string, isLarge: boolean): number | undefined {
  const written = text.trim()
  if (!TYPED.test(written)) return undefined
  const marks: readonly string[] = written.match(/[.,]/g) ?? []
  if (GROUPED.test(written) && (isLarge || marks.length !== 1)) return Number(written.replace(/\D/g, ''))
  const [, whole = '', decimals = ''] = PARTS.exec(written) ?? []
  // Thousands and decimals have different marks.
  const isGrouped =
    GROUPED.test(whole) && marks.indexOf(marks[marks.length - 1] as string) === marks.length - 1
  if (!isGrouped && !/^\d*$/.test(whole)) return undefined
  return Number(`${whole.replace(/\D/g, '')}.${decimals}`)
}
