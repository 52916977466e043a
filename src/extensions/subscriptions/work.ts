import { randomUUID } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import type { Static } from 'typebox'
import type { Series } from '#schemas/products/define.ts'
import { ApiError, isReplaced } from '#src/errors.ts'
import { findChanges, selectWatched, updateNotified } from '#src/extensions/fields/values.ts'
import type { AccountSeal } from '#src/http/account-seal.ts'
import type { App } from '#src/http/app.ts'
import type { OutwardRules } from '#src/lib/outward.ts'
import { VERSION } from '#src/lib/version.ts'
import type { ValueChange, WatchedValue } from '../changes/schemas.ts'
import type { ChangedFields, CollectionComparer } from './collections.ts'
import { deliverFrom } from './deliveries.ts'
import {
  type ChangedSubscription,
  claimChanged,
  claimDeliveries,
  type Delivery,
  disableSubscription,
  findTimeToNext,
  postpone,
  recordComparison,
  recordDelivered,
  recordFailed,
  releaseClaim,
  renewClaim,
} from './delivery-queries.ts'
import { postOutward } from './outward-post.ts'
import type { PlaceReader } from './places.ts'
import type { PlaceWithValues } from './queries.ts'
import type { DisabledReason, WebhookTest } from './schemas.ts'

/** A receiver that unsubscribes. */
const GONE = 410

type Message = Pick<Delivery, 'id' | 'userId' | 'url' | 'body' | 'secret' | 'previousSecret'>

interface Transport {
  seal: AccountSeal
  rules: OutwardRules
  signal: AbortSignal
}

async function attempt(delivery: Delivery, transport: Transport): Promise<'arrived' | DisabledReason> {
  const { outcome, status } = await send(delivery, transport)
  if (outcome === 'delivered') return 'arrived'
  if (outcome === 'secret_lost') return outcome
  return status === GONE ? 'gone' : 'failing'
}

/** Sends a message once, signed by Standard Webhooks. */
export async function send(
  { id, userId, url, body, secret, previousSecret }: Message,
  { seal, rules, signal }: Transport,
): Promise<Omit<Static<typeof WebhookTest>, 'id'>> {
  const current = seal.open(userId, secret)?.toString()
  if (current === undefined) return { outcome: 'secret_lost', status: null }
  const previous = previousSecret === null ? undefined : seal.open(userId, previousSecret)?.toString()
  const now = new Date()
  const signatures = [current, previous].flatMap((key) =>
    key === undefined ? [] : [new Webhook(key).sign(id, now, body)],
  )
  const headers = {
    'content-type': 'application/cloudevents+json; charset=utf-8',
    'user-agent': `agro-advisory/${VERSION}`,
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': signatures.join(' '),
  }
  try {
    const status = await postOutward(url, { headers, body }, rules, { signal })
    return { outcome: status >= 200 && status < 300 ? 'delivered' : 'refused', status }
  } catch {
    return { outcome: 'unanswered', status: null }
  }
}

/** The news of a message: the changes at a place, or the changed fields of a collection. */
type News = { changes: readonly ValueChange[] } | ChangedFields

type MessageSubject = Pick<ChangedSubscription, 'id' | 'name' | 'threshold' | 'before' | 'after'> & {
  place: object
  series: Pick<Series, 'product' | 'countryCode' | 'cropCode'>
}

/** An event of CloudEvents 1.0, the same for each attempt. @param test marks a message without a change */
export function formatMessage(
  { config, products }: App,
  id: string,
  { id: subscription, name, series, place, threshold, before, after }: MessageSubject,
  news: News,
  test = false,
): string {
  return JSON.stringify({
    specversion: '1.0',
    id,
    source: `${config.BASE_PATH}/subscriptions/${subscription}`,
    type: `org.agro-advisory.${'changes' in news ? 'values' : 'fields'}.changed`,
    time: new Date().toISOString(),
    datacontenttype: 'application/json',
    data: {
      ...(test && { test }),
      subscription,
      name,
      product: series.product,
      country_code: series.countryCode,
      crop: series.cropCode,
      place,
      threshold,
      unit: products.of(series.product).unit,
      release: after,
      release_before: before,
      ...news,
    },
  })
}

interface SubscriptionWork {
  reader: PlaceReader
  compare: CollectionComparer
  rules: OutwardRules
  seal: AccountSeal
}

/** Processes share the work by claims with leases. */
export function workOnSubscriptions(app: App, { reader, compare, rules, seal }: SubscriptionWork): void {
  const { metrics } = app
  const { writer } = app.database
  app.jobs.add(
    'compare-subscriptions',
    { atOnce: true, failure: 'subscriptions were not compared' },
    comparePlaces(app, reader),
  )
  app.jobs.add(
    'compare-collections',
    { atOnce: true, failure: 'subscribed collections of fields were not compared' },
    compareCollections(app, compare),
  )
  const state = deliverFrom(app, {
    claim: (most, shared) => claimDeliveries(writer, most, shared),
    findTimeToNext: () => findTimeToNext(writer),
    attempt: (delivery, signal) => attempt(delivery, { seal, rules, signal }),
    recordDelivered: (delivery) => recordDelivered(writer, delivery),
    recordFailed: (delivery, seconds) => recordFailed(writer, delivery, seconds),
    giveBack: (delivery) => releaseClaim(writer, delivery),
    async giveUp({ subscriptionId }, reason) {
      await disableSubscription(writer, subscriptionId, reason)
      app.log.warn({ subscription: subscriptionId, reason }, 'a subscription is disabled')
    },
  })
  metrics.observe('agro_webhooks_running', () => state().running)
  metrics.observe('agro_webhooks_delivered_total', () => state().delivered)
  metrics.observe('agro_webhooks_failed_total', () => state().failed)
}

/** One after the other, each takes a minute at most, so a batch ends before its lease. */
const PLACES_A_PIECE = 4

/** A publication shows in each process within seconds. */
const NOT_YET_SECONDS = 3

/** The pause after a failure: polygons that always take too long leave the service to others. */
const FAILED_SECONDS = 900

/** The news of a subscription, and the values that count as sent with them; null without news. */
type Comparison = { news: News; notified: readonly WatchedValue[] } | null

/** @returns undefined where this process does not see the release yet */
type Compare = (changed: ChangedSubscription, signal: AbortSignal) => Promise<Comparison | undefined>

/** Compares subscriptions with new releases, and stores the messages. On an abort the rest is for other processes. */
function createComparing(
  app: App,
  claim: () => Promise<ChangedSubscription[]>,
  compare: Compare,
  moreIsLeft: true | number = true,
) {
  const { writer } = app.database

  /** @returns false where it is too early */
  async function compareOne(changed: ChangedSubscription, signal: AbortSignal): Promise<boolean> {
    const compared = await compare(changed, signal)
    if (compared === undefined) return false
    const id = randomUUID()
    const message = compared && {
      id,
      body: formatMessage(app, id, changed, compared.news),
      notified: compared.notified,
    }
    await recordComparison(writer, changed, message)
    if (message) app.jobs.wake('deliver-changes')
    return true
  }

  return async (signal: AbortSignal): Promise<boolean | number> => {
    let early = 0
    const claimed = await claim()
    for (const changed of claimed) {
      try {
        signal.throwIfAborted()
        if (await compareOne(changed, signal)) continue
        early++
        await postpone(writer, changed.id, NOT_YET_SECONDS)
      } catch (error) {
        // A release or a collection was replaced or deleted meanwhile: the next comparison sees that.
        const isOvertaken = isReplaced(error) || (error instanceof ApiError && error.code === 'NOT_FOUND')
        const seconds = signal.aborted ? 0 : isOvertaken ? NOT_YET_SECONDS : FAILED_SECONDS
        if (seconds === FAILED_SECONDS) app.logFailure(error, 'a subscription was not compared')
        await postpone(writer, changed.id, seconds)
      }
    }
    return claimed.length > early && moreIsLeft
  }
}

function comparePlaces(app: App, reader: PlaceReader) {
  const { writer } = app.database
  const claim = () => claimChanged(writer, PLACES_A_PIECE, false)

  return createComparing(app, claim, async (changed, signal) => {
    const { series, after, notified } = changed
    const place = changed.place as PlaceWithValues
    const values = after === null ? [] : await reader.readInBackground({ series, place }, after, signal)
    if (values === undefined) return undefined
    const now = selectWatched(values, changed)
    const changes = findChanges(changed, notified, now)
    return changes.length === 0
      ? null
      : { news: { changes }, notified: updateNotified(notified, now, changes) }
  })
}

/** The pause between two collections, each of which has shared the event loop with requests. */
const COLLECTIONS_PAUSE_MS = 1000

const RENEWED_AFTER_MS = 10_000

/** A collection takes as long as its fields, so that places do not wait for it. */
function compareCollections(app: App, compare: CollectionComparer) {
  const { writer } = app.database
  return createComparing(
    app,
    () => claimChanged(writer, 1, true),
    async (changed, signal) => {
      let renewed = performance.now()
      const news = await compare(changed, signal, async () => {
        if (performance.now() - renewed < RENEWED_AFTER_MS) return
        renewed = performance.now()
        if (!(await renewClaim(writer, changed.id)))
          throw new ApiError('NOT_FOUND', 'The subscription was deleted or disabled meanwhile.')
      })
      if (!news) return undefined
      return news.changed === 0 && news.failed === 0 ? null : { news, notified: [] }
    },
    COLLECTIONS_PAUSE_MS,
  )
}
