import { editDistance } from './edit-distance.ts'

/** Fewer letters say too little. */
const LEAST_LETTERS = 3

/** The known name that is the same but for case and hyphens, begins alike, or differs by a letter or two. */
export function nameMeant(name: string, known: Iterable<string>): string | undefined {
  const sent = lettersOf(name)
  let meant: string | undefined
  let least = Number.POSITIVE_INFINITY
  for (const other of known) {
    const distance = distanceOf(sent, lettersOf(other))
    if (distance < least) [meant, least] = [other, distance]
  }
  return meant
}

/** How many letters two names differ by; infinity where that are too many for a slip. */
export function slipBetween(sent: string, other: string): number {
  const [length, longer] = [sent.length, other.length].sort((a, b) => a - b) as [number, number]
  if (length < LEAST_LETTERS) return Number.POSITIVE_INFINITY
  const most = Math.min(2, Math.floor(length / LEAST_LETTERS))
  const distance = longer - length > most ? Number.POSITIVE_INFINITY : editDistance(sent, other)
  return distance <= most ? distance : Number.POSITIVE_INFINITY
}

function distanceOf(sent: string, other: string): number {
  const slip = slipBetween(sent, other)
  if (slip !== Number.POSITIVE_INFINITY || Math.min(sent.length, other.length) < LEAST_LETTERS) return slip
  return sent.startsWith(other) || other.startsWith(sent) ? LEAST_LETTERS : Number.POSITIVE_INFINITY
}

function lettersOf(name: string): string {
  return name.replace(/[\s_-]/g, '').toLowerCase()
}
