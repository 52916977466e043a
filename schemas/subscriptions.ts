import { type Static, type TProperties, Type } from 'typebox'
import {
  documentedAs,
  Latitude,
  Longitude,
  NoCursor,
  oneOf,
  optional,
  orNull,
  ref,
  Time,
  text,
  type WithoutNulls,
} from './common.ts'
import { PointRequest } from './point-request.ts'
import { AdminSelection, PolygonGeometry } from './polygon.ts'
import { type ProductContract, productSchema } from './product.ts'

const THRESHOLD_KINDS = ['absolute', 'relative'] as const
export type ThresholdKind = (typeof THRESHOLD_KINDS)[number]

/** Why nothing is sent any more. */
const DISABLED_REASONS = ['gone', 'failing', 'secret_lost'] as const
export type DisabledReason = (typeof DISABLED_REASONS)[number]

const PLACE_KINDS = ['point', 'polygon', 'area'] as const

const Threshold = Type.Object(
  {
    kind: oneOf(
      THRESHOLD_KINDS,
      '`absolute`: in the unit of the product. `relative`: in percent of the value that was told before.',
    ),
    value: Type.Number({
      minimum: 0,
      maximum: 1_000_000_000,
      description: 'By more than so much a value has to change; with 0 by anything.',
      examples: [10],
    }),
  },
  { $id: 'ChangeThreshold', description: 'Which changes are told. A value that comes or goes always is.' },
)
export type Threshold = Static<typeof Threshold>

const { crop, country_code, forecast_period, name } = PointRequest.properties

const Label = text(200)

const Url = Type.String({
  minLength: 9,
  maxLength: 2000,
  format: 'text',
  description:
    'Where changes are sent: an `https` address at port 443, of a host that is public. Redirects are not followed.',
  examples: ['https://hooks.example.org/agro'],
})

/** What a subscription is asked for beside its place. */
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
    input: optional({
      ...Label,
      description: 'Which input or variety alone is watched, as entries name it; all when left out.',
    }),
    scenario: optional({
      ...Label,
      description: 'Which scenario alone is watched; all when left out.',
      examples: ['Normal'],
    }),
    threshold: ref(Threshold),
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

/** One place of three kinds; which is missing, or one too many, is told by code. */
function defineRequest(products: readonly ProductContract[]) {
  const members = describeMembers(products)
  const Geometry = ref(PolygonGeometry)
  const Area = ref(AdminSelection)
  const request = Type.Object(
    {
      lat: optional(Latitude),
      lng: optional(Longitude),
      geometry: optional(Geometry),
      admin: optional(Area),
      ...members,
    },
    { $id: 'SubscriptionRequest' },
  )
  const at = (place: TProperties) => Type.Object({ ...place, ...members })
  return documentedAs(
    request,
    Type.Unsafe({
      oneOf: [at({ lat: Latitude, lng: Longitude }), at({ geometry: Geometry }), at({ admin: Area })],
      description:
        'A place (a point, a polygon or an administrative area), the changes to report, and the address.',
      examples: [
        { ...EXAMPLE, lat: 9.5, lng: 38.5, country_code: 'eth' },
        { ...EXAMPLE, admin: { country_code: 'eth', code: 'ETH-01' } },
      ],
    }),
  )
}
export type SubscriptionRequest = WithoutNulls<Static<ReturnType<typeof defineRequest>>>

const timeOrNull = (description: string) =>
  Type.Unsafe<string | null>({ ...Time, type: ['string', 'null'], description })

const SubscribedPlace = Type.Object(
  {
    type: oneOf(PLACE_KINDS, 'The kind of place.'),
    lat: Type.Optional(Type.Number({ description: 'Of a point.', examples: [9.5] })),
    lng: Type.Optional(Type.Number({ description: 'Of a point.', examples: [38.5] })),
    geometry: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        type: 'object',
        additionalProperties: true,
        description: 'Of a polygon, as GeoJSON.',
      }),
    ),
    code: Type.Optional(Type.String({ description: 'Of an area.', examples: ['ETH-01'] })),
    level: Type.Optional(orNull(Type.Integer(), 'Of an area; null where it was not said.')),
  },
  { $id: 'SubscribedPlace' },
)

export const WatchedValue = Type.Object(
  {
    input: orNull(
      Type.String(),
      'The input or variety; null where layers differ in their scenario alone.',
      'Urea',
    ),
    scenario: orNull(Type.String(), 'Null where the product has none.', 'Normal'),
    value: Type.Number({ description: 'Of a polygon or an area it is the mean.', examples: [2464] }),
  },
  { $id: 'WatchedValue', description: 'The last value of a layer that was sent.' },
)
export type WatchedValue = Static<typeof WatchedValue>

const described = (products: readonly ProductContract[]) => ({
  id: Type.String({ format: 'uuid' }),
  name: Type.String({ description: 'The label; empty where none was given.', examples: ['My field'] }),
  product: productSchema(products, 'Of which product values are watched.'),
  country_code: Type.String({ examples: ['eth'] }),
  crop: orNull(Type.String(), 'Null where the product needs none.', 'wheat'),
  forecast_month: orNull(Type.String(), 'As `YYYY-MM`; null for the newest at any time.'),
  place: ref(SubscribedPlace),
  input: orNull(Type.String(), 'Null for all.'),
  scenario: orNull(Type.String(), 'Null for all.'),
  threshold: ref(Threshold),
  unit: Type.String({ description: 'Of the values, and of an absolute threshold.', examples: ['kg/ha'] }),
  url: Type.String({ examples: ['https://hooks.example.org/agro'] }),
  status: oneOf(['active', 'disabled'], 'Whether changes are told.'),
  disabled_reason: Type.Unsafe<DisabledReason | null>({
    type: ['string', 'null'],
    enum: [...DISABLED_REASONS, null],
    description:
      '`gone`: the target answered 410. `failing`: something could not be delivered for a day. `secret_lost`: the service cannot read the secret any more; have it renewed. `POST /subscriptions/{id}/enable` enables it again. Null while it is active.',
  }),
  failing_since: timeOrNull(
    'Since when deliveries have failed; null where the last one arrived. Why they fail is not told: the log of the target knows.',
  ),
  delivered_at: timeOrNull('When something arrived last; null where nothing did.'),
  created_at: Time,
  release: orNull(
    Type.String(),
    'The release that the values were last compared with; null where none answered.',
    'yield-eth-wheat-2026-07-v1',
  ),
  values: Type.Array(ref(WatchedValue), {
    description:
      'The values that were sent last, or the first ones. Changes are measured from them, so small steps add up.',
  }),
})

const SECRET = Type.String({
  description: 'The secret that signs deliveries (Standard Webhooks). It is shown once; it can be renewed.',
  examples: ['whsec_bWFkZSBmb3IgdGhlIGRvY3VtZW50YXRpb24h'],
})

export const NewSecret = Type.Object(
  { secret: SECRET },
  {
    $id: 'WebhookSecret',
    description: 'A new secret; deliveries are signed with the one before, too, for a day.',
  },
)

export function defineSubscriptionSchemas(products: readonly ProductContract[]) {
  const request = defineRequest(products)
  const members = described(products)
  const subscription = Type.Object(members, {
    $id: 'Subscription',
    description: 'A subscription, without its secret.',
  })
  const made = Type.Object(
    { ...members, secret: SECRET },
    { $id: 'NewSubscription', description: 'A subscription that was just made.' },
  )
  const list = Type.Object(
    {
      items: Type.Array(ref(subscription)),
      next_cursor: NoCursor,
    },
    { $id: 'SubscriptionList', description: 'List your subscriptions, the newest first.' },
  )
  const components = [Threshold, SubscribedPlace, WatchedValue, NewSecret, request, subscription, made, list]
  return { request, subscription, made, list, components }
}

export type SubscriptionAnswer = Static<ReturnType<typeof defineSubscriptionSchemas>['subscription']>

const TEST_OUTCOMES = ['delivered', 'refused', 'unanswered', 'secret_lost'] as const

export const WebhookTest = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'The `webhook-id` of the test message.' }),
    outcome: oneOf(
      TEST_OUTCOMES,
      '`delivered`: the target answered 2xx. `refused`: it answered something else. `unanswered`: no answer came within 10 seconds. `secret_lost`: the service cannot read the secret any more; have it renewed.',
    ),
    status: orNull(
      Type.Integer(),
      'The HTTP status that the target answered; null where it did not answer.',
      204,
    ),
  },
  { $id: 'WebhookTest', description: 'The result of a test delivery.' },
)
