import type { ReleaseRow } from '#src/domains/releases/queries.ts'

/** What a release is called that is published or not, is being loaded, or of which the load was cut off. */
export function stateOf({ publishedAt, status, loader }: ReleaseFacts): string {
  if (publishedAt) return 'published'
  if (status === 'ready') return 'not published'
  return loader === null ? 'incomplete' : 'loading'
}

type ReleaseFacts = Pick<ReleaseRow, 'publishedAt' | 'status' | 'loader'>
