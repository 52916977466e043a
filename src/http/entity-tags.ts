import { createHash } from 'node:crypto'

/** Changes with what the same data are answered as: to be counted up with the form of the answers. */
const FORM = 3

/** The entity tag of an answer: of the data behind it and how they are represented. */
export function entityTag(...parts: string[]): string {
  const hash = createHash('sha256').update(JSON.stringify([FORM, ...parts]))
  return `"${hash.digest('base64url').slice(0, 27)}"`
}

/** Whether an If-None-Match header names a tag: the client has the answer already. */
export function isCurrent(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false
  return header.split(',').some((entry) => entry.trim() === '*' || entry.trim().replace(/^W\//, '') === tag)
}
