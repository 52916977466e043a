import type { Pause } from './limiter.ts'

interface NestingLimits {
  /** Of nesting. */
  levels: number
  /** Lists and objects in all. */
  lists: number
  /** Members of one object. */
  members: number
}

/** The limit that a JSON text exceeds. The text need not be valid, and the check is a few times faster than a parser. */
export function findExcess(json: string, limits: NestingLimits): keyof NestingLimits | undefined {
  let level = 0
  let lists = 0
  /** Of the objects around the index. */
  const members = new Uint32Array(limits.levels + 1)
  for (let at = 0; at < json.length; at++) {
    switch (json[at]) {
      case '"':
        at = endOfString(json, at)
        break
      case '[':
      case '{':
        if (++level > limits.levels) return 'levels'
        if (++lists > limits.lists) return 'lists'
        members[level] = 0
        break
      case ':':
        members[level] = (members[level] ?? 0) + 1
        if ((members[level] as number) > limits.members) return 'members'
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
  /** Brackets around the index. */
  level = 0
  #isInString = false
  /** Whether a piece ended with a backslash. */
  #isEscaped = false

  /** The index behind the next bracket outside of strings; -1 at the end of the text. */
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

/** The text of a member of an object in valid JSON, whose numbers have the digits that they were written with. */
export function memberText(object: string, name: string): string | undefined {
  let found: string | undefined
  let level = 0
  let key = ''
  /** Where the value of the key begins. */
  let start = -1
  for (let at = 0; at < object.length; at++) {
    const character = object[at]
    if (character === '"') {
      const end = endOfString(object, at)
      if (level === 1 && start === -1) key = object.slice(at, end + 1)
      at = end
    } else if (character === '{' || character === '[') level++
    else if (character === '}' || character === ']') level--
    else if (character === ':' && level === 1) start = at + 1
    // Of several the last one counts, as to a parser.
    if (start === -1 || level > 1 || (level === 1 && character !== ',')) continue
    if (JSON.parse(key) === name) found = withoutSpace(object.slice(start, at))
    start = -1
  }
  return found
}

/** The numbers that a parser makes of members with more digits than a double has. */
export async function findRoundedNumbers(
  json: string,
  names: readonly string[],
  pause: Pause,
): Promise<Set<number>> {
  const keys = names.map((name) => JSON.stringify(name).replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
  // A double keeps any 15 decimal digits.
  const members = new RegExp(
    `(?:${keys.join('|')})\\s*:\\s*(-?\\d(?:[\\d.eE+-]{15,}|[\\d.]*[eE][\\d+-]+))`,
    'g',
  )
  const rounded = new Set<number>()
  let found = 0
  for (const [, text = ''] of json.matchAll(members)) {
    if (found++ % NUMBERS_AT_ONCE === 0) await pause()
    const number = Number(text)
    // GDAL and others write all digits of a double, 0.1 as 0.10000000000000001.
    const same = [String(number), number.toPrecision(17)].map(normalDigits)
    if (!same.includes(normalDigits(text))) rounded.add(number)
  }
  return rounded
}

/** Numbers between two pauses. */
const NUMBERS_AT_ONCE = 100

/** Digits and exponent, the same for all spellings of a number: `1.50e3`, `1500`. */
function normalDigits(text: string): string {
  const [, sign, whole = '', decimals = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(text) ?? []
  // From the first zero of a run alone: a million zeros before another digit would take hours.
  const digits = (whole + decimals).replace(/(?<!0)0+$/, '')
  const dropped = whole.length + decimals.length - digits.length
  return `${sign}${digits.replace(/^0+/, '')}e${digits === '' ? 0 : Number(exponent) - decimals.length + dropped}`
}

/** JSON as it is written at the shortest, but for its numbers. */
export function withoutSpace(json: string): string {
  return json.replaceAll(/"[^"\\]*(?:\\.[^"\\]*)*"|\s+/g, (part) => {
    if (!part.startsWith('"')) return ''
    return part.includes('\\') ? JSON.stringify(JSON.parse(part)) : part
  })
}

/** A token of JSON behind white space. A text is one with its closing quote alone. */
const TOKEN =
  /([ \t\r\n]*)(?:([[\]{},:])|("(?:[^"\\\p{Cc}]|[\u007f-\u009f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*")|(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null)(?![\w.])|$)?/uy

/** Mistakes that are made again and again, by what stands there, with the remedy. */
const REMEDIES: readonly [at: RegExp, remedy: string][] = [
  [/^\/[/*]|^#/, 'take the comment out: JSON has none'],
  [/^['‘’“”„`]/, 'write straight double quotes (")'],
  [/^(True|False|None|NaN|undefined|-?Infinity)\b/, 'write true, false or null'],
  [/^[+.]\d|^-?0\d|^-?\d+\.(?!\d)|^-\./, 'write the number as 0.5 or -3'],
  [/^[\p{L}_$][\w$]*\s*:/u, 'write the name in double quotes'],
  [/^"/, 'end the text with a double quote in its line, and write \\ as \\\\'],
]

interface JsonFault {
  /** From 1. */
  line: number
  column: number
  remedy: string | undefined
}

/** The position of the first mistake of a text that is no JSON; undefined where there is none. */
export function findJsonFault(json: string): JsonFault | undefined {
  const open: string[] = []
  let expected: 'value' | 'name' | ':' | ',' = 'value'
  let before = ''
  let isEnd = false
  for (let at = 0; ; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at
    const [token, space = '', sign = '', text] = TOKEN.exec(json) as RegExpExecArray
    const start = at + space.length
    const fault = (remedy: string | undefined) => {
      const lines = json.slice(0, start).split(/\r\n|[\r\n]/)
      return { line: lines.length, column: [...(lines.at(-1) ?? '')].length + 1, remedy }
    }
    if (start >= json.length) {
      if (isEnd) return undefined
      const missing = open
        .map((bracket) => (bracket === '{' ? '}' : ']'))
        .reverse()
        .join('')
      return fault(missing === '' ? 'the text ends too early' : `close it with ${missing}`)
    }
    if (isEnd) return fault('end the text before it')
    if (token === space)
      return fault(REMEDIES.find(([pattern]) => pattern.test(json.slice(start, start + 60)))?.[1])
    const inObject = open.at(-1) === '{'
    const closes = sign === '}' || sign === ']'
    if (closes) {
      if (before === ',') return fault(`take the comma before ${sign} out`)
      if (open.length === 0 || inObject !== (sign === '}'))
        return fault(`the bracket ${sign} has no counterpart`)
      if (expected !== ',' && !(before === '{' || before === '[')) return fault('a value is missing')
      open.pop()
      expected = ','
    } else if (expected === 'name') {
      if (text === undefined) {
        const isDecimal = sign === '' && /\d\s*,\s*$/.test(json.slice(0, start))
        return fault(isDecimal ? 'write decimals with a point, as in 9.5' : 'write a name in double quotes')
      }
      expected = ':'
    } else if (expected === ':') {
      if (sign !== ':') return fault('write a colon between the name and its value')
      expected = 'value'
    } else if (expected === ',') {
      if (sign !== ',') return fault('write a comma before it')
      expected = inObject ? 'name' : 'value'
    } else if (sign === '{' || sign === '[') {
      open.push(sign)
      expected = sign === '{' ? 'name' : 'value'
    } else if (sign === '') expected = ','
    else return fault('a value is missing before it')
    before = sign
    isEnd = open.length === 0 && expected === ','
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The members of an object as JSON, which lacks those that are undefined. */
export function memberTexts(object: object): string[] {
  return Object.entries(object).flatMap(([key, value]) =>
    value === undefined ? [] : `${JSON.stringify(key)}:${JSON.stringify(value)}`,
  )
}

/** An object in JSON without its last bracket. */
export function openText(object: string): string {
  return object.slice(0, -1)
}
