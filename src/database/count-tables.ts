import type { Generated } from 'kysely'

export interface RequestCountTable {
  day: string
  operation: string
  status: number
  code: string
  requests: number
  total_ms: number
  max_ms: number
  /** Read as text: the driver parses a bigint, but not those in an array. */
  buckets: string[]
}

/** Where tiles lie that are asked for most. */
export interface TileUseTable {
  product: string
  country_code: string
  crop_code: string | null
  longitude: number
  latitude: number
  uses: number
  used_at: Generated<Date>
}
