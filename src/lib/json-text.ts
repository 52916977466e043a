/** The members of an object as JSON. */
export function memberTexts(object: object): string[] {
  return Object.entries(object).map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`)
}

/** An object in JSON but for the bracket at its end: there may be more to say. */
export function openText(object: string): string {
  return object.slice(0, -1)
}

/**
 * An object in JSON with members behind those that it has.
 *
 * @param open its {@link openText}; it has a member at least
 * @param members one or more, with commas between them
 */
export function closedWith(open: string, members: string): string {
  return `${open},${members}}`
}
