import { Webhook } from 'standardwebhooks'
import { type OutwardRules, postOutward, type Resolve } from '#src/lib/outward-post.ts'
import { VERSION } from '#src/lib/version.ts'
import type { Delivery } from './delivery-queries.ts'
import type { SecretSeal } from './secrets.ts'

/** What has come of an attempt. */
export type Attempt = 'arrived' | 'failed' | 'gone' | 'secret lost'

/** A receiver says so that it wants no more. */
const GONE = 410

export interface Delivering {
  seal: SecretSeal
  rules: OutwardRules
  signal: AbortSignal
  /** For tests. */
  resolve?: Resolve | undefined
}

/** Tries to deliver something, signed as Standard Webhooks has it. */
export async function attempt(
  { id, userId, url, body, secret, previousSecret }: Delivery,
  { seal, rules, signal, resolve }: Delivering,
): Promise<Attempt> {
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
    const status = await postOutward(url, { headers, body }, rules, { signal, ...(resolve && { resolve }) })
    if (status === GONE) return 'gone'
    return status >= 200 && status < 300 ? 'arrived' : 'failed'
  } catch {
    return 'failed'
  }
}
