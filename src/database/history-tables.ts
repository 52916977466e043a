import type { Generated } from 'kysely'

export interface AdvisoryHistoryTable {
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

export interface HistoryItemTable {
  id: string
  user_id: string
  template_id: number
  bytes: number
  subject_id: number
  crop_code: string | null
  request: string
  answer: string
}

export interface AnswerTemplateTable {
  id: Generated<number>
  checksum: Buffer
  subject_id: number
  crop_code: string | null
  releases: string[]
  pieces: string[] | null
}

export interface AdvisoryFeedbackTable {
  history_id: string
  user_id: string
  rating: number
  comment: string | null
  /** For processes of the version before: the database keeps these three in step with `observed`. */
  yield_kg_ha: number | null
  rate_kg_ha: number | null
  rate_tons_ha: number | null
  harvested_on: string | null
  created_at: Generated<Date>
  updated_at: Generated<Date>
  observed: object | null
}

export interface HistoryShareTable {
  history_id: string
  user_id: string
  token: string
  shared_at: Generated<Date>
}

export interface UserUsageTable {
  user_id: string
  day: string
  product: string
  country_code: string
  crop_code: string | null
  advisories: number
}
