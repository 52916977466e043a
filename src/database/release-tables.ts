import type { Generated } from 'kysely'

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
  source: string
  licence: string
  checksum: string
  status: Generated<'loading' | 'ready' | 'deleted'>
  created_at: Generated<Date>
  findings: object | null
  load_lock: number | null
  /** ISO date. */
  valid_until: string | null
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
