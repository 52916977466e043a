import { type Static, Type } from 'typebox'
import * as t from './common.ts'

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
  limit: t.pageLimit(1000, FEED_DEFAULTS.limit, 'How many entries at most.'),
  format: t.withDefault(t.oneOf(['json', 'atom'], 'The format of the answer, as with `Accept`.'), 'json'),
})

export const ChangeEntry = t.component(
  'ChangeEntry',
  'Something that has changed what the service answers.',
  {
    id: t.integer('Larger than those of all entries before.', 42),
    at: t.Time,
    kind: t.oneOf(
      CHANGE_KINDS,
      '`published`: the release answers from now on. `rolled_back`: it does so again, in the place of a newer one. `withdrawn`: it answers no more, and nothing has taken its place. `deleted`: it is gone for good. `boundaries_loaded`: the administrative areas of a level are others.',
    ),
    release: t.orNull(
      Type.String(),
      'The code of the release; null for boundaries.',
      'yield-eth-wheat-2026-07-v2',
    ),
    replaced: t.orNull(
      Type.String(),
      'The code of the release that answered before it; null where none did.',
      'yield-eth-wheat-2026-07-v1',
    ),
    product: t.orNull(Type.String(), 'The product; null for boundaries.', 'yield'),
    country_code: Type.String({ examples: ['eth'] }),
    crop: t.orNull(Type.String(), 'Null where the product needs none, and for boundaries.', 'wheat'),
    forecast_month: t.orNull(
      Type.String(),
      'As `YYYY-MM`; null where the product has no seasons, and for boundaries.',
      '2026-07',
    ),
    synthetic: t.orNull(Type.Boolean(), 'Whether its values are made up; null for boundaries.'),
    level: t.orNull(Type.Integer(), 'Of the boundaries; null for releases.'),
  },
)
export type ChangeEntry = Static<typeof ChangeEntry>

export const ChangeFeed = t.component('ChangeFeed', 'Changes, the oldest first.', {
  items: t.array(ChangeEntry, 'The newest last.'),
  next_since: t.integer(
    'Send it as `since` the next time. It is the id of the last item, or the `since` of the request where there is none.',
    42,
  ),
  more: t.boolean('Whether there are more already.'),
})
export type ChangeFeed = Static<typeof ChangeFeed>

export const AtomFeed = t.textBody('AtomFeed', 'A feed of Atom (RFC 4287), the newest entry first.')

export const feedSchemas = [ChangeEntry, ChangeFeed, AtomFeed]
