interface NestingLimits {
  /** Of nesting. */
  levels: number
  /** Lists and objects in all. */
  lists: number
}

/** The limit that a JSON text exceeds. The text need not be valid, and the check is a few times faster than a parser. */
export function findExcess(json: string, limits: NestingLimits): keyof NestingLimits | undefined {
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

/** Index of the closing quote, or the end of the text. */
function endOfString(json: string, start: number): number {
  for (let at = json.indexOf('"', start + 1); at !== -1; at = json.indexOf('"', at + 1)) {
    let backslashes = 0
    while (json[at - 1 - backslashes] === '\\') backslashes++
    // A quote after an odd number of backslashes is escaped.
    if (backslashes % 2 === 0) return at
  }
  return json.length
}

const SPECIAL = /["\\{}[\]]/g

/** Walks through JSON that comes in pieces, from bracket to bracket. The text need not be valid. */
export class BracketWalk {
  /** Brackets around the place. */
  level = 0
  #isInString = false
  /** Whether a piece ended with a backslash. */
  #isEscaped = false

  /** The place behind the next bracket outside of strings; -1 at the end of the text. */
  next(text: string, from: number): number {
    SPECIAL.lastIndex = from + Number(this.#isEscaped && from < text.length)
    this.#isEscaped &&= from === text.length
    for (let found = SPECIAL.exec(text); found; found = SPECIAL.exec(text)) {
      const [character] = found
      if (character === '"') this.#isInString = !this.#isInString
      else if (this.#isInString) {
        if (character !== '\\') continue
        SPECIAL.lastIndex++
        this.#isEscaped = SPECIAL.lastIndex > text.length
      } else if (character !== '\\') {
        this.level += character === '{' || character === '[' ? 1 : -1
        return SPECIAL.lastIndex
      }
    }
    return -1
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The members of an object as JSON. */
export function memberTexts(object: object): string[] {
  return Object.entries(object).map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`)
}

/** An object in JSON without its last bracket. */
export function openText(object: string): string {
  return object.slice(0, -1)
}

/**
 * Adds members to an object in JSON.
 *
 * @param open its {@link openText}, with a member at least
 * @param members with commas between them
 */
export function closedWith(open: string, members: string): string {
  return `${open},${members}}`
}

/** WGS 84 in the order longitude, latitude, which is that of RFC 7946. */
const CRS84 = /^urn:ogc:def:crs:OGC:(1\.3)?:CRS84$/

/** Whether a GeoJSON object has another system than that of RFC 7946. */
export function isInAnotherCrs(object: object): boolean {
  const { crs } = object as { crs?: { properties?: { name?: unknown } } | null }
  const name = crs?.properties?.name
  return crs !== undefined && crs !== null && !(typeof name === 'string' && CRS84.test(name))
}
