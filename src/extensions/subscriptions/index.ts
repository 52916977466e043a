import type { Generated } from 'kysely'
import { counter, gauge } from '#src/http/metrics/metrics.ts'
import type { Threshold } from '../changes/schemas.ts'
import type { Extension } from '../extension.ts'
import type { DisabledReason } from './schemas.ts'
import { settings } from './settings.ts'

interface SubscriptionTable {
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
  threshold_kind: Threshold['kind']
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
  tried_at: Date | null
  delivered_at: Date | null
  disabled_at: Date | null
  disabled_reason: DisabledReason | null
}

interface WebhookDeliveryTable {
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

declare module '#src/data/tables.ts' {
  interface Tables {
    subscription: SubscriptionTable
    webhook_delivery: WebhookDeliveryTable
  }
}

const auditKinds = {
  subscription_made: 'a subscription was made',
  subscription_deleted: 'a subscription was deleted',
  subscription_enabled: 'a subscription was enabled again',
  subscription_secret_renewed: 'the secret of a subscription was renewed',
} as const

const metrics = {
  agro_webhooks_running: gauge('Deliveries under way.'),
  agro_webhooks_delivered_total: counter('Changes delivered to a subscriber.'),
  agro_webhooks_failed_total: counter('Failed attempts at a delivery.'),
} as const

type SubscriptionKinds = typeof auditKinds
type SubscriptionMetrics = typeof metrics
declare module '#src/data/audit-kinds.ts' {
  interface AuditKinds extends SubscriptionKinds {}
}
declare module '#src/http/metrics/metrics.ts' {
  interface MetricDefinitions extends SubscriptionMetrics {}
}

/** Messages to addresses of accounts when values change. */
export const subscriptions: Extension = {
  name: 'subscriptions',
  guide: { path: 'changes', title: 'Messages of changes', before: 'operators' },
  needs: ['changes', 'fields'],
  settings,
  accountLimits: {
    TOO_MANY_SUBSCRIPTIONS: {
      of: 'subscriptions',
      most: 20,
      setting: { name: 'SUBSCRIPTIONS_PER_USER', off: 'Subscriptions are off on this service.' },
      table: 'subscription',
      status: 409,
      meaning: 'The user has the maximum number of subscriptions.',
      example: 'You have 20 subscriptions: delete one that is not needed.',
    },
  },
  auditKinds,
  metrics,
  part: 'fields',
  tag: {
    name: 'subscriptions',
    description: 'Messages to your own address when values change.',
    before: 'fields',
  },
  sql: new URL('sql/', import.meta.url),
  deletions: {
    'delete-old-deliveries': {
      failure: 'old messages of changes were not deleted',
      piece: async (db) => (await import('./delivery-queries.ts')).deleteOldDeliveries(db),
    },
  },
  accounts: { rows: { subscription: 'user_id = :user' } },
  routes: async (app, core) => (await import('./routes.ts')).subscriptionRoutes(app, core),
  checks: async () => (await import('./checks.ts')).checks,
}
