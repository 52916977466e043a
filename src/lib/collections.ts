/** Trimmed items between commas, without empty ones. */
export function splitList(text: string): string[] {
  return text.split(',').flatMap((item) => item.trim() || [])
}

export function isOneOf<Word extends string>(words: readonly Word[], word: string | undefined): word is Word {
  return words.some((one) => one === word)
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
