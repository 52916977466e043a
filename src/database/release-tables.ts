import type { Generated } from 'kysely'
import type { ChangeKind } from '#schemas/feed.ts'

export interface ReleaseTable {
  id: Generated<number>
  code: string
  product: string
  country_code: string
  crop_code: string | null
  /** ISO date of the first day of the month: the driver leaves dates as text. */
  forecast_period: string | null
  version: number
  synthetic: Generated<boolean>
  lossy: Generated<boolean>
  source: string
  licence: string
  checksum: string
  status: Generated<'loading' | 'ready' | 'deleted'>
  created_at: Generated<Date>
  findings: object | null
  load_lock: number | null
  /** ISO date. */
  valid_until: string | null
  tile_store: Generated<'postgis' | 'files'>
  deleted_at: Date | null
}

export interface ReleasePeriodTable {
  id: Generated<number>
  release_id: number
  published_from: Date
  published_to: Date | null
}

/** Where the tiles of a release are. */
export type TileStoreName = 'postgis' | 'files'

export interface GranuleTable {
  coverage_id: number
  granule_row: number
  granule_column: number
  name: string
  header_bytes: number
  bytes: number
}

export interface PublicationTable {
  product: string
  country_code: string
  crop_code: string | null
  forecast_period: string | null
  release_id: number
  previous_release_id: number | null
  published_at: Generated<Date>
}

export interface ChangeEntryTable {
  id: Generated<number>
  at: Generated<Date>
  kind: ChangeKind
  release: string | null
  replaced: string | null
  product: string | null
  country_code: string
  crop_code: string | null
  /** ISO date. */
  forecast_period: string | null
  synthetic: boolean | null
  level: number | null
}

export interface ScheduledPublicationTable {
  release_id: number
  publish_at: Date
  scheduled_at: Generated<Date>
  scheduled_by: string
  allowed: string[]
  strict: boolean
  refused_at: Date | null
  refusal: string | null
}
