import { randomFillSync } from 'node:crypto'

/** What a UUID looks like in the small letters that the service writes: a part of a regular expression. */
export const UUID_PATTERN = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'

const ANY_CASE = new RegExp(`^${UUID_PATTERN}$`, 'i')
const AS_WRITTEN = new RegExp(`^${UUID_PATTERN}$`)

/** Whether a text is a UUID, in any case: what is not is the id of nothing, and no query can take it. */
export function isUuid(text: string): boolean {
  return ANY_CASE.test(text)
}

/** Whether a value is a UUID as the service writes it: for what it must have written itself. */
export function isWrittenUuid(value: unknown): value is string {
  return typeof value === 'string' && AS_WRITTEN.test(value)
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** Random bytes are asked for so many at a time: asking takes longer than they do. */
const POOL_BYTES = 4096
const RANDOM_BYTES = 8

/** What the twelve bits of the counter hold. It begins in the lower half, so that there is room for more. */
const COUNTER_END = 4096

/** A clock that goes back by more than this was wrong before, and is followed. */
const MOST_BACK_MS = 10_000

/**
 * Makes a maker of UUIDs of version 7 (RFC 9562): milliseconds since 1970, a counter within the millisecond, and 62
 * random bits. Each is greater than the one before, but for where the clock goes back by more than ten seconds: else
 * one that was wrong for a moment would be so for as long as the process lives.
 *
 * @param clock says the milliseconds since 1970
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

/** The least UUID of a time, in milliseconds since 1970: those of version 7 that are made from then on are greater. */
export function uuidAt(time: number): string {
  return `${uuidStart(time)}-0000-0000-000000000000`
}

function uuidStart(time: number): string {
  const digits = time.toString(16).padStart(12, '0')
  return `${digits.slice(0, 8)}-${digits.slice(8)}`
}
