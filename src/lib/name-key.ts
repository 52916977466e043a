/** Words that are their own keys, as most that are sent are. */
const PLAIN = /^[a-z0-9-]+$/

/** What a word is looked up by that requests are looked up with as they are: without regard to case alone. */
export function wordKey(word: string): string {
  if (PLAIN.test(word)) return word
  return word.normalize('NFC').trim().replace(/\s+/g, ' ').toLowerCase()
}

/** What a name is looked up by: without regard to case, accents and spaces around and between its words. */
export function nameKey(name: string): string {
  return wordKey(name.normalize('NFD').replace(/\p{Mark}/gu, ''))
}
