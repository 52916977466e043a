import { createHmac } from 'node:crypto'

/** The step that a time lies in. */
export function stepAt(milliseconds: number): number {
  return Math.floor(milliseconds / 30_000)
}

/** The code of a step (RFC 4226, 5.3), as an app computes it. */
export function codeOfStep(secret: Buffer, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const hash = createHmac('sha1', secret).update(counter).digest()
  const offset = (hash.at(-1) as number) & 0xf
  const number = hash.readUInt32BE(offset) & 0x7fffffff
  return String(number % 1e6).padStart(6, '0')
}
