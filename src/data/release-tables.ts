import type { Generated } from 'kysely'
import type { CompanionRole, Conditions } from '#schemas/certainty.ts'

/** The tables of releases; `tables.ts` has all. */

/** `postgis`, or one that an extension has. */
export type TileStoreName = string

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
  tile_store: Generated<TileStoreName>
  deleted_at: Date | null
  conditions: Conditions | null
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

export interface CoverageTable {
  id: Generated<number>
  release_id: number
  srid: number
  origin_x: number
  origin_y: number
  pixel_width: number
  pixel_height: number
  width: number
  height: number
  tile_size: number
  summarised: Generated<boolean>
  summary_version: Generated<number>
  west: number
  south: number
  east: number
  north: number
}

interface BandTable {
  release_id: number
  ordinal: number
  coverage_id: number
  band: number
  input: string | null
  scenario: string | null
  condition: string | null
  unit: string
  scale: number
  offset: number
  decimals: number
  pixel_type: string
  valid_count: number
  minimum: number | null
  maximum: number | null
  mean: number | null
}

export interface LayerTable extends BandTable {
  probability: number | null
  range_from: number | null
  range_to: number | null
}

export interface CompanionTable extends BandTable {
  role: CompanionRole
}
