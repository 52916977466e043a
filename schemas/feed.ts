import { type Static, Type } from 'typebox'
import {
  boolean,
  component,
  integer,
  oneOf,
  orNull,
  pageLimit,
  ref,
  Time,
  textBody,
  withDefault,
} from './common.ts'

const CHANGE_KINDS = ['published', 'rolled_back', 'withdrawn', 'deleted', 'boundaries_loaded'] as const
export type ChangeKind = (typeof CHANGE_KINDS)[number]

export const FEED_DEFAULTS = { limit: 100 } as const

export const FeedQuery = Type.Object({
  since: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description:
        'The id of the last known entry: `next_since` of the last answer. By default, all entries.',
      examples: [0],
    }),
  ),
  limit: pageLimit(1000, FEED_DEFAULTS.limit, 'How many entries at most.'),
  format: withDefault(oneOf(['json', 'atom'], 'The format of the answer, as with `Accept`.'), 'json'),
})

export const ChangeEntry = component('ChangeEntry', 'Something that has changed what the service answers.', {
  id: integer('Larger than those of all entries before.', 42),
  at: Time,
  kind: oneOf(
    CHANGE_KINDS,
    '`published`: the release answers from now on. `rolled_back`: it does so again, in the place of a newer one. `withdrawn`: it answers no more, and nothing has taken its place. `deleted`: it is gone for good. `boundaries_loaded`: the administrative areas of a level are others.',
  ),
  release: orNull(
    Type.String(),
    'The code of the release; null for boundaries.',
    'yield-eth-wheat-2026-07-v2',
  ),
  replaced: orNull(
    Type.String(),
    'The code of the release that answered before it; null where none did.',
    'yield-eth-wheat-2026-07-v1',
  ),
  product: orNull(Type.String(), 'The product; null for boundaries.', 'yield'),
  country_code: Type.String({ examples: ['eth'] }),
  crop: orNull(Type.String(), 'Null where the product needs none, and for boundaries.', 'wheat'),
  forecast_month: orNull(
    Type.String(),
    'As `YYYY-MM`; null where the product has no seasons, and for boundaries.',
    '2026-07',
  ),
  synthetic: orNull(Type.Boolean(), 'Whether its values are made up; null for boundaries.'),
  level: orNull(Type.Integer(), 'Of the boundaries; null for releases.'),
})
export type ChangeEntry = Static<typeof ChangeEntry>

export const ChangeFeed = component('ChangeFeed', 'Changes, the oldest first.', {
  items: Type.Array(ref(ChangeEntry), { description: 'The newest last.' }),
  next_since: integer(
    'Send it as `since` the next time. It is the id of the last item, or the `since` of the request where there is none.',
    42,
  ),
  more: boolean('Whether there are more already.'),
})
export type ChangeFeed = Static<typeof ChangeFeed>

export const AtomFeed = textBody('AtomFeed', 'A feed of Atom (RFC 4287), the newest entry first.')

export const feedSchemas = [ChangeEntry, ChangeFeed, AtomFeed]
