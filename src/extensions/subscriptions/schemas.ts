import { type Static, Type } from 'typebox'
import * as t from '#schemas/common.ts'
import { PointRequest } from '#schemas/point-request.ts'
import { AdminSelection, PolygonGeometry } from '#schemas/polygon.ts'
import { type ProductContract, productSchema } from '#schemas/product.ts'
import { Threshold, WatchedValue } from '../changes/schemas.ts'
import { SavedFields } from '../fields/schemas.ts'

/** Why nothing is sent any more. */
const DISABLED_REASONS = ['gone', 'failing', 'secret_lost'] as const
export type DisabledReason = (typeof DISABLED_REASONS)[number]

const { crop, country_code, forecast_period, name } = PointRequest.properties

const Url = Type.String({
  minLength: 9,
  maxLength: 2000,
  format: 'text',
  description: 'Where changes are sent: a public `https` address at port 443. Redirects are not followed.',
  examples: ['https://hooks.example.org/agro'],
})

function describeMembers(products: readonly ProductContract[]) {
  return {
    product: productSchema(products, 'Of which product values are watched.'),
    crop,
    country_code,
    forecast_period: Type.Optional({
      ...forecast_period,
      description: 'Of which month; the newest at any time when left out.',
    }),
    name: Type.Optional({
      ...name,
      description: 'A label, which is sent along.',
      examples: ['My field'],
    }),
    input: t.optional(
      t.text(200, 'Which input or variety alone is watched, as entries name it; all when left out.'),
    ),
    scenario: t.optional(t.text(200, 'Which scenario alone is watched; all when left out.', 'Normal')),
    threshold: t.ref(Threshold),
    url: Url,
  }
}

const EXAMPLE = {
  product: 'yield',
  crop: 'wheat',
  name: 'My field',
  threshold: { kind: 'relative', value: 10 },
  url: 'https://hooks.example.org/agro',
}

function defineRequest(products: readonly ProductContract[]) {
  const fields = {
    lat: t.Latitude,
    lng: t.Longitude,
    geometry: t.ref(PolygonGeometry),
    admin: t.ref(AdminSelection),
    fields: SavedFields,
  }
  const alternatives = [
    ['lat' as const, 'lng' as const],
    ['geometry' as const],
    ['admin' as const],
    ['fields' as const],
  ]
  return t.withOneOf({ $id: 'SubscriptionRequest', fields, alternatives }, describeMembers(products), {
    description:
      'A place (a point, a polygon, an administrative area or a collection of saved fields), the changes to report, and the address.',
    examples: [
      { ...EXAMPLE, lat: 9.5, lng: 38.5, country_code: 'eth' },
      { ...EXAMPLE, admin: { country_code: 'eth', code: 'ETH-01' } },
    ],
  })
}
export type SubscriptionRequest = t.WithoutNulls<Static<ReturnType<typeof defineRequest>>>

const SubscribedPlace = t.component('SubscribedPlace', {
  type: t.oneOf(['point', 'polygon', 'area', 'fields'], 'The kind of place.'),
  lat: Type.Optional(t.number('Of a point.', 9.5)),
  lng: Type.Optional(t.number('Of a point.', 38.5)),
  geometry: Type.Optional(
    Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description: 'Of a polygon, as GeoJSON.',
    }),
  ),
  code: Type.Optional(t.string('Of an area.', 'ETH-01')),
  level: Type.Optional(t.integerOrNull('Of an area; null where it was not said.')),
  collection: Type.Optional(t.string('Of saved fields.', 'cooperative-7')),
})

const described = (products: readonly ProductContract[]) => ({
  id: Type.String({ format: 'uuid' }),
  name: t.string('The label; empty where none was given.', 'My field'),
  product: productSchema(products, 'Of which product values are watched.'),
  country_code: Type.String({ examples: ['eth'] }),
  crop: t.stringOrNull('Null where the product needs none.', 'wheat'),
  forecast_month: t.stringOrNull('As `YYYY-MM`; null for the newest at any time.'),
  place: t.ref(SubscribedPlace),
  input: t.stringOrNull('Null for all.'),
  scenario: t.stringOrNull('Null for all.'),
  threshold: t.ref(Threshold),
  unit: t.string('Of the values, and of an absolute threshold.', 'kg/ha'),
  url: Type.String({ examples: ['https://hooks.example.org/agro'] }),
  status: t.oneOf(['active', 'disabled'], 'Whether changes are told.'),
  disabled_reason: Type.Unsafe<DisabledReason | null>({
    type: ['string', 'null'],
    enum: [...DISABLED_REASONS, null],
    description:
      '`gone`: the target answered 410. `failing`: deliveries failed for a day. `secret_lost`: the service cannot read the secret any more: renew it. Null while it is active.',
  }),
  failing_since: t.nullable(
    t.Time,
    'Since when deliveries have failed; null where the last one arrived. The log of the target has the cause.',
  ),
  delivered_at: t.nullable(t.Time, 'When something arrived last; null where nothing did.'),
  created_at: t.Time,
  release: t.stringOrNull(
    'The release that the values were last compared with; null where none answered.',
    'yield-eth-wheat-2026-07-v1',
  ),
  values: t.array(
    WatchedValue,
    'The values that were sent last, or the first ones. Changes are measured from them. None for saved fields, which are compared in two releases.',
  ),
})

const SECRET = t.string(
  'The secret that signs deliveries (Standard Webhooks). It is shown once; it can be renewed.',
  'whsec_bWFkZSBmb3IgdGhlIGRvY3VtZW50YXRpb24h',
)

export const NewSecret = t.component(
  'WebhookSecret',
  'A new secret; deliveries are signed with the one before, too, for a day.',
  { secret: SECRET },
)

export function defineSubscriptionSchemas(products: readonly ProductContract[]) {
  const request = defineRequest(products)
  const members = described(products)
  const subscription = t.component('Subscription', 'A subscription, without its secret.', members)
  const made = t.component('NewSubscription', 'A subscription that was just made.', {
    ...members,
    secret: SECRET,
  })
  const list = t.onePage(subscription, 'List your subscriptions, the newest first.')
  const components = [Threshold, SubscribedPlace, WatchedValue, NewSecret, request, subscription, made, list]
  return { request, subscription, made, list, components }
}

export type SubscriptionAnswer = Static<ReturnType<typeof defineSubscriptionSchemas>['subscription']>

export const WebhookTest = t.component('WebhookTest', 'The result of a test delivery.', {
  id: Type.String({ format: 'uuid', description: 'The `webhook-id` of the test message.' }),
  outcome: t.oneOf(
    ['delivered', 'refused', 'unanswered', 'secret_lost'],
    '`delivered`: the target answered 2xx. `refused`: another status. `unanswered`: no answer within 10 seconds. `secret_lost`: the service cannot read the secret any more: renew it.',
  ),
  status: t.integerOrNull('The HTTP status that the target answered; null where it did not answer.', 204),
})
