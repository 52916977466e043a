// Whose examples these are. The account of the examples would belong to whoever registers it
// first, so each visitor has one of their own.

/** Where the browser remembers it. */
const VISITOR = 'docs-visitor'

/** A text with the addresses of this visitor in the place of those of the examples. */
export function withAddressesOfVisitor(text: string) {
  const visitor = sessionStorage.getItem(VISITOR) ?? randomName()
  sessionStorage.setItem(VISITOR, visitor)
  return text.replaceAll(/\b(\w+)@example\.org/g, `$1.${visitor}@example.org`)
}

/** Has the next page begin as somebody else. */
export function forgetVisitor() {
  sessionStorage.removeItem(VISITOR)
}

function randomName() {
  const bytes = crypto.getRandomValues(new Uint8Array(5))
  return [...bytes].map((byte) => byte.toString(36).padStart(2, '0')).join('')
}
