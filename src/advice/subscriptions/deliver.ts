import { Webhook } from 'standardwebhooks'
import type { Series } from '#schemas/products/define.ts'
import type { AccountSeal } from '#src/http/account-seal.ts'
import type { App } from '#src/http/app.ts'
import { type OutwardRules, postOutward } from '#src/lib/outward-post.ts'
import { VERSION } from '#src/lib/version.ts'
import type { ChangedSubscription, Delivery } from './delivery-queries.ts'
import type { ValueChange } from './value-changes.ts'

/** The status of a receiver, or the reason for none. */
export type TargetResponse = number | 'unanswered' | 'secret lost'

export type Outcome = 'arrived' | 'failed' | 'gone' | 'secret lost'

/** The status of a receiver that unsubscribes. */
const GONE = 410

type Message = Pick<Delivery, 'id' | 'userId' | 'url' | 'body' | 'secret' | 'previousSecret'>

interface Transport {
  seal: AccountSeal
  rules: OutwardRules
  signal: AbortSignal
}

export async function attempt(delivery: Delivery, transport: Transport): Promise<Outcome> {
  const response = await send(delivery, transport)
  if (response === 'secret lost') return response
  if (response === GONE) return 'gone'
  return isSuccess(response) ? 'arrived' : 'failed'
}

export function isSuccess(response: TargetResponse): boolean {
  return typeof response === 'number' && response >= 200 && response < 300
}

/** Sends a message once, signed by Standard Webhooks. */
export async function send(
  { id, userId, url, body, secret, previousSecret }: Message,
  { seal, rules, signal }: Transport,
): Promise<TargetResponse> {
  const current = seal.open(userId, secret)?.toString()
  if (current === undefined) return 'secret lost'
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
    return await postOutward(url, { headers, body }, rules, { signal })
  } catch {
    return 'unanswered'
  }
}

/** The type of events, for receivers. */
const EVENT_TYPE = 'org.agro-advisory.values.changed'

type MessageSubject = Pick<ChangedSubscription, 'id' | 'name' | 'threshold' | 'before' | 'after'> & {
  place: object
  series: Pick<Series, 'product' | 'countryCode' | 'cropCode'>
}

/**
 * Formats changes as an event of CloudEvents 1.0 in JSON. It stays the same for each attempt.
 *
 * @param id of the event, for receivers
 * @param test marks a message without a change
 */
export function formatMessage(
  { config, products }: App,
  id: string,
  { id: subscription, name, series, place, threshold, before, after }: MessageSubject,
  changes: readonly ValueChange[],
  test = false,
): string {
  return JSON.stringify({
    specversion: '1.0',
    id,
    source: `${config.BASE_PATH}/subscriptions/${subscription}`,
    type: EVENT_TYPE,
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
      changes,
    },
  })
}
