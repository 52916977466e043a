import { createHash } from 'node:crypto'

/** @param parts identify the answer, such as its text */
export function entityTag(...parts: string[]): string {
  const hash = createHash('sha256').update(JSON.stringify(parts))
  return `"${hash.digest('base64url').slice(0, 27)}"`
}

/** Whether an If-None-Match header has a tag. */
export function isCurrent(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false
  return header.split(',').some((entry) => entry.trim() === '*' || entry.trim().replace(/^W\//, '') === tag)
}

/** A digest of the schema of an answer and of its components. */
export function answerDigest(schema: object | undefined, components: Record<string, unknown>): string {
  const texts = new Map<string, string>()
  const open = [JSON.stringify(schema) ?? '']
  for (let text = open.pop(); text !== undefined; text = open.pop()) {
    for (const [, name] of text.matchAll(/"\$ref":"([^"#]+)#?"/g) as IterableIterator<[string, string]>) {
      if (texts.has(name)) continue
      const component = JSON.stringify(components[name]) ?? ''
      texts.set(name, component)
      open.push(component)
    }
  }
  const hash = createHash('sha256').update(JSON.stringify(schema) ?? '')
  for (const name of [...texts.keys()].sort()) hash.update(texts.get(name) as string)
  return hash.digest('base64url')
}
