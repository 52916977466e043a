import type { ReleaseRow } from '#src/domains/releases/queries.ts'

/** What a release is called that is published or not, or of which the load was cut off. */
export function stateOf({ publishedAt, status }: Pick<ReleaseRow, 'publishedAt' | 'status'>): string {
  if (publishedAt) return 'published'
  return status === 'ready' ? 'not published' : 'incomplete'
}
