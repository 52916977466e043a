import type { TileStoreName } from '#src/database/release-tables.ts'
import type { ReleaseRow } from '#src/domains/releases/queries.ts'
import type { Schedule } from '#src/domains/releases/schedule-queries.ts'
import { isStale, type Validity } from '#src/products/season.ts'
import { timeText } from './time.ts'

type ReleaseFacts = Pick<ReleaseRow, 'publishedAt' | 'status' | 'loader'>

/** What a release is called that is published or not, is being loaded, or of which the load was cut off. */
export function stateOf({ publishedAt, status, loader }: ReleaseFacts): string {
  if (publishedAt) return 'published'
  if (status === 'ready') return 'not published'
  return loader === null ? 'incomplete' : 'loading'
}

/** The state of a release for people: whether its season is over, and when it is to be published. */
export function stateText(release: ReleaseFacts & Validity & { schedule: Schedule | null }): string {
  const { schedule } = release
  const parts = [stateOf(release)]
  if (isStale(release, Date.now())) parts.push('stale')
  if (schedule?.refusedAt) parts.push(`refused ${timeText(schedule.refusedAt)}`)
  else if (schedule) parts.push(`scheduled for ${timeText(schedule.publishAt)}`)
  return parts.join(', ')
}

/** Where the tiles of a release are, for people. */
export function storeText(store: TileStoreName): string {
  return store === 'files' ? 'the files of TILE_STORE' : 'the database'
}
