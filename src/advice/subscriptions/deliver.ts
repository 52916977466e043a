import { Webhook } from 'standardwebhooks'
import type { ProductDefinition, Series } from '#schemas/products/define.ts'
import { type OutwardRules, postOutward, type Resolve } from '#src/lib/outward-post.ts'
import { VERSION } from '#src/lib/version.ts'
import type { Changed, Delivery } from './delivery-queries.ts'
import type { SecretSeal } from './queries.ts'
import type { ValueChange } from './value-changes.ts'

/** What a receiver has answered: a status, or why there is none. */
export type Answered = number | 'unanswered' | 'secret lost'

/** What has come of an attempt. */
export type Attempt = 'arrived' | 'failed' | 'gone' | 'secret lost'

/** A receiver says so that it wants no more. */
const GONE = 410

/** What is sent, and to whom. */
type Sent = Pick<Delivery, 'id' | 'userId' | 'url' | 'body' | 'secret' | 'previousSecret'>

interface Delivering {
  seal: SecretSeal
  rules: OutwardRules
  signal: AbortSignal
  /** For tests. */
  resolve?: Resolve | undefined
}

/** Tries to deliver something. */
export async function attempt(delivery: Delivery, delivering: Delivering): Promise<Attempt> {
  const answered = await send(delivery, delivering)
  if (answered === 'secret lost') return answered
  if (answered === GONE) return 'gone'
  return isArrival(answered) ? 'arrived' : 'failed'
}

export function isArrival(answered: Answered): boolean {
  return typeof answered === 'number' && answered >= 200 && answered < 300
}

/** Sends something once, signed as Standard Webhooks has it. */
export async function send(
  { id, userId, url, body, secret, previousSecret }: Sent,
  { seal, rules, signal, resolve }: Delivering,
): Promise<Answered> {
  const current = seal.open(userId, secret)
  if (current === undefined) return 'secret lost'
  const previous = previousSecret === null ? undefined : seal.open(userId, previousSecret)
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
    return await postOutward(url, { headers, body }, rules, { signal, ...(resolve && { resolve }) })
  } catch {
    return 'unanswered'
  }
}

/** The type of an event, as receivers tell it from others that may come. */
const EVENT_TYPE = 'org.agro-advisory.values.changed'

/** What a message says of a subscription. */
type Told = Pick<Changed, 'id' | 'name' | 'place' | 'threshold' | 'thresholdKind' | 'before' | 'after'> & {
  series: Pick<Series, 'product' | 'countryCode' | 'cropCode'>
}

/**
 * What is sent of a change: an event of CloudEvents 1.0 in JSON. It is made once, and sent as it is at each attempt.
 *
 * @param id by which receivers know it
 * @param test marks a message that tells of no change
 * @param basePath what the paths of the service begin with
 */
export function messageOf(
  id: string,
  { id: subscription, name, series, place, threshold, thresholdKind, before, after }: Told,
  { unit }: Pick<ProductDefinition, 'unit'>,
  changes: readonly ValueChange[],
  { basePath, time, test = false }: { basePath: string; time: Date; test?: boolean },
): string {
  return JSON.stringify({
    specversion: '1.0',
    id,
    source: `${basePath}/subscriptions/${subscription}`,
    type: EVENT_TYPE,
    time: time.toISOString(),
    datacontenttype: 'application/json',
    data: {
      ...(test && { test }),
      subscription,
      name,
      product: series.product,
      country_code: series.countryCode,
      crop: series.cropCode,
      place,
      threshold: { kind: thresholdKind, value: threshold },
      unit,
      release: after,
      release_before: before,
      changes,
    },
  })
}
