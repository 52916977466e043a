/** How much of lists and objects a JSON text may have. */
interface NestingLimits {
  /** So many within each other. */
  levels: number
  /** So many in all. */
  lists: number
}

/**
 * What of its limits a JSON text exceeds; undefined where it keeps both. It is only looked at from its beginning to
 * where that is known, a few times faster than it could be parsed, and need not be valid.
 */
export function excessOf(json: string, limits: NestingLimits): keyof NestingLimits | undefined {
  let level = 0
  let lists = 0
  for (let at = 0; at < json.length; at++) {
    switch (json[at]) {
      case '"':
        at = endOfString(json, at)
        break
      case '[':
      case '{':
        if (++level > limits.levels) return 'levels'
        if (++lists > limits.lists) return 'lists'
        break
      case ']':
      case '}':
        level--
    }
  }
  return undefined
}

/** Where the string ends that begins at a quote; where it does not end, so does the text. */
function endOfString(json: string, start: number): number {
  for (let at = json.indexOf('"', start + 1); at !== -1; at = json.indexOf('"', at + 1)) {
    let backslashes = 0
    while (json[at - 1 - backslashes] === '\\') backslashes++
    // Two of them are one that is meant; a quote after an odd one is meant itself.
    if (backslashes % 2 === 0) return at
  }
  return json.length
}

/** The members of an object as JSON. */
export function memberTexts(object: object): string[] {
  return Object.entries(object).map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`)
}

/** An object in JSON but for the bracket at its end: there may be more to say. */
export function openText(object: string): string {
  return object.slice(0, -1)
}

/**
 * An object in JSON with members behind those that it has.
 *
 * @param open its {@link openText}; it has a member at least
 * @param members one or more, with commas between them
 */
export function closedWith(open: string, members: string): string {
  return `${open},${members}}`
}
