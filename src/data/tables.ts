import type { Generated, Kysely, Transaction } from 'kysely'
import type { Scope } from '#schemas/keys.ts'
import type { Role } from '#schemas/user.ts'
import type { AuditKind } from './audit-kinds.ts'
import type {
  CompanionTable,
  CoverageTable,
  LayerTable,
  PublicationTable,
  ReleaseTable,
} from './release-tables.ts'

interface UserTable {
  id: Generated<string>
  email: string
  email_key: string
  password_hash: string
  name: string
  organisation: string | null
  role: Generated<Role>
  created_at: Generated<Date>
  email_confirmed: Generated<boolean>
}

interface SessionTable {
  id: Generated<string>
  user_id: string
  created_at: Generated<Date>
  expires_at: Date
  ended_at: Date | null
  authenticated_at: Generated<Date>
  last_used_at: Generated<Date>
  network: string | null
  user_agent: string | null
  token_family: Buffer | null
}

interface RefreshTokenTable {
  hash: Buffer
  session_id: string
  expires_at: Date
  used_at: Date | null
  successor_salt: Buffer | null
}

interface AccountTokenTable {
  hash: Buffer
  user_id: string
  purpose: 'password_reset' | 'email_confirmation'
  expires_at: Date
}

interface PendingRegistrationTable {
  id: Generated<string>
  token_hash: Buffer
  email: string
  email_key: string
  password_hash: string
  name: string
  organisation: string | null
  created_at: Generated<Date>
  expires_at: Date
}

interface ApiKeyTable {
  id: Generated<string>
  user_id: string
  name: string
  hint: string
  hash: Buffer
  created_at: Generated<Date>
  expires_at: Date | null
  last_used_at: Date | null
  scopes: Generated<Scope[]>
  parent_id: string | null
}

interface AuthThrottleTable {
  subject: Buffer
  failures: number
  first_failure_at: Date
  last_failure_at: Date
  blocked_until: Date
}

interface IdempotencyRecordTable {
  id: Buffer
  user_id: string | null
  attempt: string
  begun_at: Generated<Date>
  answer: Buffer | null
}

interface AuditRecordTable {
  id: Generated<number>
  at: Generated<Date>
  kind: AuditKind
  user_id: string | null
  session_id: string | null
  key_id: string | null
  network: string | null
  request_id: string | null
  operator: string | null
  detail: object | null
}

interface AdvisoryHistoryTable {
  id: string
  user_id: string
  created_at: Date
  kind: 'point' | 'polygon'
  product: string
  country_code: string
  crop_code: string | null
  releases: string[]
  request: object
  answer: object
  bytes: number
}

interface HistoryItemTable {
  id: string
  user_id: string
  template_id: number
  bytes: number
  subject_id: number
  crop_code: string | null
  request: string
  answer: string
}

interface AdvisoryFeedbackTable {
  history_id: string
  user_id: string
  rating: number
  comment: string | null
  harvested_on: string | null
  created_at: Generated<Date>
  updated_at: Generated<Date>
  observed: object | null
}

interface UserUsageTable {
  user_id: string
  day: string
  product: string
  country_code: string
  crop_code: string | null
  advisories: number
}

export type ChangeKind = 'published' | 'rolled_back' | 'withdrawn' | 'deleted' | 'boundaries_loaded'

interface ChangeEntryTable {
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

interface ScheduledPublicationTable {
  release_id: number
  publish_at: Date
  scheduled_at: Generated<Date>
  scheduled_by: string
  allowed: string[]
  strict: boolean
  refused_at: Date | null
  refusal: string | null
}

/**
 * The tables as Kysely sees them; the comments of their columns stand in sql/migrations. A test holds them
 * against the schema: columns, types, what can be null and what has a default.
 */
interface PlausibleRangeTable {
  product: string
  crop_code: string | null
  minimum: number
  maximum: number
  largest_from: number | null
  mean_to: number | null
}

/** No query is built on it: statements are written out, and no column needs a type. */
type InText = object

export interface Tables {
  country: CountryTable
  country_alias: { alias: string; country_code: string }
  crop: { code: string; name: string }
  crop_alias: { alias: string; crop_code: string }
  country_crop: { country_code: string; crop_code: string }
  input_composition: { name: string; n: number; p2o5: number; k2o: number; s: number }
  release: ReleaseTable
  publication: PublicationTable
  release_period: InText
  scheduled_publication: ScheduledPublicationTable
  change_entry: ChangeEntryTable
  coverage: CoverageTable
  layer: LayerTable
  companion: CompanionTable
  raster_tile: { coverage_id: number; tile_row: number; tile_column: number; rast: string }
  tile_summary: { coverage_id: number; level: number; block_row: number; block_column: number; bands: Buffer }
  area_result: AreaResultTable
  area_claim: { release_id: number; admin_area_id: number; leased_until: Date }
  plausible_range: PlausibleRangeTable
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
  auth_throttle: AuthThrottleTable
  /** A view of all items. */
  advisory_history: AdvisoryHistoryTable
  history_former_id: { id: string; item_id: string }
  history_item: HistoryItemTable
  history_item_going: HistoryItemTable
  history_removal: { user_id: string; id: string }
  history_subject: { id: Generated<number>; product: string; kind: 'point' | 'polygon'; country_code: string }
  answer_template: InText
  advisory_feedback: AdvisoryFeedbackTable
  history_share: { history_id: string; user_id: string; token: string; shared_at: Generated<Date> }
  user_usage: UserUsageTable
  usage_of_all: InText
  history_size: { user_id: string; items: number; bytes: number }
  account_removal: { user_id: string; removed_at: Generated<Date>; through: Generated<string> }
  request_count: InText
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
  extension: string | null
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

/** The database, or a transaction of it. */
export type Db = Kysely<Tables>

export type Trx = Transaction<Tables>
