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
