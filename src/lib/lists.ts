/** The items of a text with commas between them, without the spaces around them. */
export function listOf(text: string): string[] {
  return text.split(',').flatMap((item) => item.trim() || [])
}

export function isOneOf<Word extends string>(words: readonly Word[], word: string | undefined): word is Word {
  return words.some((one) => one === word)
}
