import { EXTENSIONS } from '#src/extensions/index.ts'

/** An extension, and all that cannot be without it. */
export function withDependents(name: string): string[] {
  const dependents = EXTENSIONS.filter(({ needs = [] }) => needs.includes(name))
  return [...new Set([name, ...dependents.flatMap((one) => withDependents(one.name))])]
}
