import { createHash } from 'node:crypto'
import { VERSION } from '#src/lib/version.ts'

/** @param parts identify the answer, such as its text */
export function entityTag(...parts: string[]): string {
  const hash = createHash('sha256').update(JSON.stringify(parts))
  return `"${hash.digest('base64url').slice(0, 27)}"`
}

/** The tag of an answer by its data, before it is made. Another version may make another answer of the same data. */
export function dataTag(...parts: string[]): string {
  return entityTag(VERSION, ...parts)
}

/** Whether an If-None-Match header has a tag. */
export function isCurrent(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false
  return header.split(',').some((entry) => entry.trim() === '*' || entry.trim().replace(/^W\//, '') === tag)
}
