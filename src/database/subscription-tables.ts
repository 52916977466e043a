import type { Generated } from 'kysely'
import type { DisabledReason, ThresholdKind } from '#schemas/subscriptions.ts'

// Who is told of changes, and what is on its way to them; see `tables.ts`.

export interface SubscriptionTable {
  id: Generated<string>
  user_id: string
  created_at: Generated<Date>
  name: string
  product: string
  country_code: string
  crop_code: string | null
  /** ISO date. */
  forecast_period: string | null
  place: object
  input: string | null
  scenario: string | null
  threshold_kind: ThresholdKind
  threshold: number
  url: string
  host: string
  secret: Buffer
  previous_secret: Buffer | null
  previous_until: Date | null
  release: string | null
  told: object
  leased_until: Date | null
  failing_since: Date | null
  delivered_at: Date | null
  disabled_at: Date | null
  disabled_reason: DisabledReason | null
}

export interface WebhookDeliveryTable {
  id: Generated<string>
  subscription_id: string
  created_at: Generated<Date>
  body: string
  due_at: Generated<Date>
  attempts: Generated<number>
  leased_until: Date | null
  done_at: Date | null
  delivered: boolean | null
}
