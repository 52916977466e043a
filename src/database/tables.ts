import type { Generated } from 'kysely'
import type {
  AccountTokenTable,
  ApiKeyTable,
  AuthThrottleTable,
  IdempotencyRecordTable,
  PendingRegistrationTable,
  RefreshTokenTable,
  SessionTable,
  TwoFactorTable,
  UserTable,
} from './account-tables.ts'
import type { AuditRecordTable } from './audit-table.ts'
import type { RequestCountTable, TileUseTable } from './count-tables.ts'
import type {
  AdvisoryFeedbackTable,
  AdvisoryHistoryTable,
  AnswerTemplateTable,
  HistoryItemTable,
  HistoryShareTable,
  UserUsageTable,
} from './history-tables.ts'
import type {
  ChangeEntryTable,
  GranuleTable,
  PublicationTable,
  ReleasePeriodTable,
  ReleaseTable,
  ScheduledPublicationTable,
} from './release-tables.ts'
import type { SubscriptionTable, WebhookDeliveryTable } from './subscription-tables.ts'

/**
 * The tables as Kysely sees them; the comments of their columns stand in sql/migrations. A test holds them
 * against the schema: columns, types, what can be null and what has a default.
 */
export interface Tables {
  country: CountryTable
  country_alias: { alias: string; country_code: string }
  crop: { code: string; name: string }
  crop_alias: { alias: string; crop_code: string }
  country_crop: { country_code: string; crop_code: string }
  input_composition: { name: string; n: number; p2o5: number; k2o: number; s: number }
  release: ReleaseTable
  publication: PublicationTable
  release_period: ReleasePeriodTable
  scheduled_publication: ScheduledPublicationTable
  change_entry: ChangeEntryTable
  subscription: SubscriptionTable
  webhook_delivery: WebhookDeliveryTable
  coverage: CoverageTable
  layer: LayerTable
  raster_tile: { coverage_id: number; tile_row: number; tile_column: number; rast: string }
  granule: GranuleTable
  tile_use: TileUseTable
  tile_summary: { coverage_id: number; level: number; block_row: number; block_column: number; bands: Buffer }
  area_result: AreaResultTable
  plausible_range: { product: string; crop_code: string | null; minimum: number; maximum: number }
  boundary_set: BoundarySetTable
  admin_area: AdminAreaTable
  admin_area_piece: { admin_area_id: number; geom: string }
  app_user: UserTable
  session: SessionTable
  refresh_token: RefreshTokenTable
  account_token: AccountTokenTable
  pending_registration: PendingRegistrationTable
  api_key: ApiKeyTable
  api_key_usage: { key_id: string; day: string; requests: number }
  two_factor: TwoFactorTable
  recovery_code: { user_id: string; hash: Buffer }
  auth_throttle: AuthThrottleTable
  /** A view of all items. */
  advisory_history: AdvisoryHistoryTable
  advisory_history_json: AdvisoryHistoryTable
  history_item: HistoryItemTable
  history_item_going: HistoryItemTable
  history_removal: { user_id: string; id: string }
  history_subject: { id: Generated<number>; product: string; kind: 'point' | 'polygon'; country_code: string }
  answer_template: AnswerTemplateTable
  advisory_feedback: AdvisoryFeedbackTable
  history_share: HistoryShareTable
  user_usage: UserUsageTable
  history_size: { user_id: string; items: number; bytes: number }
  account_removal: { user_id: string; removed_at: Generated<Date>; through: Generated<string> }
  request_count: RequestCountTable
  idempotency_record: IdempotencyRecordTable
  audit_record: AuditRecordTable
  applied_script: AppliedScriptTable
}

interface AppliedScriptTable {
  kind: string
  name: string
  checksum: string
  applied_at: Generated<Date>
  replaced: Generated<string[]>
  breaks_older: Generated<boolean>
}

interface CountryTable {
  code: string
  name: string
  west: number | null
  south: number | null
  east: number | null
  north: number | null
  ordinal: Generated<number>
}

interface CoverageTable {
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

interface LayerTable {
  release_id: number
  ordinal: number
  coverage_id: number
  band: number
  input: string | null
  scenario: string | null
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

interface AreaResultTable {
  release_id: number
  admin_area_id: number
  boundaries_loaded_at: Date
  statistics: object
  statistics_version: Generated<number>
}

interface BoundarySetTable {
  country_code: string
  level: number
  checksum: string
  approximate: boolean
  source: string
  licence: string
  loaded_at: Generated<Date>
}

interface AdminAreaTable {
  id: Generated<number>
  country_code: string
  level: number
  code: string
  name: string
  parent_id: number | null
  geom: string
  area_km2: number
  west: number
  south: number
  east: number
  north: number
  centroid_lng: number
  centroid_lat: number
  positions: number
  simplified: string
}
