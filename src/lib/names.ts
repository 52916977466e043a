/** Insertions, deletions, replacements (Levenshtein, 1965) and exchanges of neighbours (Damerau, 1964). */
export function editDistance(from: string, to: string): number {
  const [a, b] = [[...from], [...to]]
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  a.forEach((letter, row) => {
    const current = [row + 1]
    b.forEach((other, column) => {
      const replaced = (last[column] as number) + (letter === other ? 0 : 1)
      const added = Math.min(last[column + 1] as number, current[column] as number) + 1
      const isExchange = row > 0 && column > 0 && letter === b[column - 1] && a[row - 1] === other
      const exchanged = isExchange ? (beforeLast[column - 1] as number) + 1 : Number.POSITIVE_INFINITY
      current.push(Math.min(replaced, added, exchanged))
    })
    beforeLast = last
    last = current
  })
  return last[b.length] as number
}

/** The nearest word with a fifth of its letters wrong at most, or one letter. */
export function findNearest(word: string, names: readonly string[]): string | undefined {
  const [first] = names
    .map((other) => ({ other, distance: editDistance(word, other) }))
    .filter(({ other, distance }) => distance <= Math.max(1, Math.floor(other.length / 5)))
    .sort((one, another) => one.distance - another.distance)
  return first?.other
}

/** Most words are their own keys. */
const PLAIN = /^[a-z0-9-]+$/

/** Key of a word: without regard to case and spaces. */
export function wordKey(word: string): string {
  if (PLAIN.test(word)) return word
  return word.normalize('NFC').trim().replace(/\s+/g, ' ').toLowerCase()
}

/** Key of a name: without regard to case, accents and spaces. */
export function nameKey(name: string): string {
  return wordKey(name.normalize('NFD').replace(/\p{Mark}/gu, ''))
}

const LEAST_LETTERS = 3

/** What other services call the same. */
const ALIASES: Readonly<Record<string, string>> = {
  ...{ latitude: 'lat', y: 'lat', lon: 'lng', long: 'lng', longitude: 'lng', x: 'lng' },
  country: 'country_code',
}

/** A name that is the same but for case and hyphens, begins alike, differs by a letter or two, or has another name elsewhere. */
export function findSimilarName(name: string, names: Iterable<string>): string | undefined {
  const sent = readLetters(name)
  const alias = Object.hasOwn(ALIASES, sent) ? ALIASES[sent] : undefined
  if (alias !== undefined && [...names].includes(alias)) return alias
  let meant: string | undefined
  let least = Number.POSITIVE_INFINITY
  for (const other of names) {
    const distance = measureDistance(sent, readLetters(other))
    if (distance < least) [meant, least] = [other, distance]
  }
  return meant
}

/** Edit distance of two names; infinity beyond a slip. */
export function slipBetween(sent: string, other: string): number {
  const [length, longer] = [sent.length, other.length].sort((a, b) => a - b) as [number, number]
  if (length < LEAST_LETTERS) return Number.POSITIVE_INFINITY
  const most = Math.min(2, Math.floor(length / LEAST_LETTERS))
  const distance = longer - length > most ? Number.POSITIVE_INFINITY : editDistance(sent, other)
  return distance <= most ? distance : Number.POSITIVE_INFINITY
}

function measureDistance(sent: string, other: string): number {
  const slip = slipBetween(sent, other)
  if (slip !== Number.POSITIVE_INFINITY || Math.min(sent.length, other.length) < LEAST_LETTERS) return slip
  return sent.startsWith(other) || other.startsWith(sent) ? LEAST_LETTERS : Number.POSITIVE_INFINITY
}

function readLetters(name: string): string {
  return name.replace(/[\s_-]/g, '').toLowerCase()
}

/** Characters of a name or a number that a sentence repeats. */
const LONGEST = 100

/** Names of both coordinates together. */
const POSITIONS = ['coordinates', 'coords', 'geometry', 'latlng', 'latlon', 'location', 'point', 'position']

/**
 * The name that was sent instead of a missing one, with what to send; undefined for none.
 *
 * @param names of no parameter
 */
export function findSlip(missing: string, names: readonly string[]): string | undefined {
  const sent = names.filter(({ length }) => length <= LONGEST)
  const slip = sent.find((name) => findSimilarName(name, [missing]) !== undefined)
  if (slip !== undefined || (missing !== 'lat' && missing !== 'lng')) return slip
  const both = sent.find((name) => POSITIONS.includes(readLetters(name)))
  return both && `${both}: send lat and lng as a number each`
}

// Gaps that touch each other would take time that grows with the cube of the spaces.
const SENT_NUMBER = /^\s*([-+]?\d+(?:[.,]\d+)?)(?:\s*°)?\s*(?:([NSEW])\s*)?$/i

const SENT_POINT = /^\s*POINT\s*\(\s*([-+]?[\d.]+)\s+([-+]?[\d.]+)/i
const SENT_PAIR = /^\s*[-+]?\d+(?:\.\d+)?(?:\s*[,;]\s*|\s+)[-+]?\d+(?:\.\d+)?\s*$/

/** What to send instead of a text that means a number; undefined where that is not certain. */
export function adviseNumber(text: string): string | undefined {
  if (text.length > LONGEST) return undefined
  const [, lng, lat] = SENT_POINT.exec(text) ?? []
  if (lat !== undefined) return `send lat ${lat} and lng ${lng}`
  const [, digits = '', side = ''] = SENT_NUMBER.exec(text) ?? []
  if (digits === '') return SENT_PAIR.test(text) ? 'send lat and lng as a number each' : undefined
  const number = Number(digits.replace(',', '.')) * (/[sw]/i.test(side) ? -1 : 1)
  if (digits.includes(',')) return `write ${number}, with a point and without quotes`
  // A table and an address have no quotes to leave out.
  return text === digits ? `send ${number} without quotes` : `send ${number}`
}

/** Whether invalid coordinates would be valid if swapped. */
export function areSwapped(sent: unknown): boolean {
  const { lat, lng } = (sent ?? {}) as { lat?: unknown; lng?: unknown }
  return (
    typeof lat === 'number' &&
    typeof lng === 'number' &&
    Math.abs(lat) > 90 &&
    Math.abs(lat) <= 180 &&
    Math.abs(lng) <= 90
  )
}

/** A swapped position; undefined where it is invalid. */
export function swapped({ longitude, latitude }: { longitude: number; latitude: number }) {
  return Math.abs(longitude) <= 90 ? { longitude: latitude, latitude: longitude } : undefined
}

/** Trimmed items between commas, without empty ones. */
export function splitList(text: string): string[] {
  return text.split(',').flatMap((item) => item.trim() || [])
}
