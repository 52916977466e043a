import { randomInt, randomUUID } from 'node:crypto'

/** A UUID in small letters, for a regular expression. */
export const UUID_PATTERN = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'

const ANY_CASE = new RegExp(`^${UUID_PATTERN}$`, 'i')
const AS_WRITTEN = new RegExp(`^${UUID_PATTERN}$`)

/** In any case of letters; queries fail for other texts. */
export function isUuid(text: string): boolean {
  return ANY_CASE.test(text)
}

/** Whether a value is a UUID in the form of the service. */
export function isWrittenUuid(value: unknown): value is string {
  return typeof value === 'string' && AS_WRITTEN.test(value)
}

/** Twelve bits. The counter begins in the lower half. */
const COUNTER_END = 4096

/** A clock that goes back by more was wrong before. */
const MOST_BACK_MS = 10_000

/** In a UUID of version 4, the variant and 62 random bits begin here. */
const RANDOM_FROM = 19

/**
 * Makes UUIDs of version 7 (RFC 9562): milliseconds since 1970, a counter within the millisecond, and 62 random bits. Each
 * is greater than the one before, unless the clock goes back by more than ten seconds.
 *
 * @param clock in milliseconds since 1970
 */
export function createUuidMaker(clock: () => number = Date.now): () => string {
  let time = -1
  let counter = 0
  let start = ''

  function tick(now: number): void {
    time = now
    start = uuidStart(now)
    counter = randomInt(COUNTER_END / 2)
  }

  return () => {
    const now = clock()
    if (now > time || time - now > MOST_BACK_MS) tick(now)
    else if (++counter === COUNTER_END) tick(time + 1)
    return `${start}-${(0x7000 | counter).toString(16)}-${randomUUID().slice(RANDOM_FROM)}`
  }
}

/** The least UUID of a time in milliseconds since 1970: later ones of version 7 are greater. */
export function uuidAt(time: number): string {
  return `${uuidStart(time)}-0000-0000-000000000000`
}

function uuidStart(time: number): string {
  const digits = time.toString(16).padStart(12, '0')
  return `${digits.slice(0, 8)}-${digits.slice(8)}`
}
