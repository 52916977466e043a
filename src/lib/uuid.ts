import { randomFillSync } from 'node:crypto'

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

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** Random bytes of one call, which takes longer than the bytes. */
const POOL_BYTES = 4096
const RANDOM_BYTES = 8

/** Twelve bits. The counter begins in the lower half. */
const COUNTER_END = 4096

/** A clock that goes back by more was wrong before. */
const MOST_BACK_MS = 10_000

/**
 * Makes UUIDs of version 7 (RFC 9562): milliseconds since 1970, a counter within the millisecond, and 62 random bits. Each
 * is greater than the one before, unless the clock goes back by more than ten seconds.
 *
 * @param clock in milliseconds since 1970
 */
export function createUuidMaker(clock: () => number = Date.now): () => string {
  const pool = Buffer.alloc(POOL_BYTES)
  let used = POOL_BYTES
  let time = -1
  let counter = 0
  let start = ''

  function tick(now: number): void {
    time = now
    start = uuidStart(now)
    counter = (((pool[used] as number) << 8) | (pool[used + 1] as number)) % (COUNTER_END / 2)
    used += 2
  }

  return () => {
    if (used > POOL_BYTES - RANDOM_BYTES - 2) {
      randomFillSync(pool)
      used = 0
    }
    const now = clock()
    if (now > time || time - now > MOST_BACK_MS) tick(now)
    else if (++counter === COUNTER_END) tick(time + 1)
    const at = used
    used += RANDOM_BYTES
    const variant = HEX[((pool[at] as number) & 0x3f) | 0x80]
    let node = ''
    for (let index = at + 2; index < used; index++) node += HEX[pool[index] as number]
    const count = (0x7000 | counter).toString(16)
    return `${start}-${count}-${variant}${HEX[pool[at + 1] as number]}-${node}`
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
