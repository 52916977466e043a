import type { FastifyReply, FastifyRequest } from 'fastify'

/** RFC 7240: what clients would like, and servers may do. Those that do not know it leave it out. */
const PREFERENCE = 'server-timing'

/** Whether a client asks how long its answer takes: `Prefer: server-timing`. */
export function wantsTiming({ headers }: FastifyRequest): boolean {
  // Node joins several Prefer headers by commas.
  const preferences = headers.prefer
  return typeof preferences === 'string' && preferences.split(',').some(isPreference)
}

function isPreference(text: string): boolean {
  return text.split(';')[0]?.trim().toLowerCase() === PREFERENCE
}

/**
 * Does two steps of an answer one after the other, and says how long each took, in milliseconds, and how
 * long it has been since the request arrived.
 */
export async function withTiming<Answer>(
  reply: FastifyReply,
  findRelease: () => Promise<unknown>,
  findValues: () => Answer | Promise<Answer>,
): Promise<Answer> {
  const started = performance.now()
  await findRelease()
  const released = performance.now()
  const answer = await findValues()
  const ended = performance.now()
  const steps = { release: released - started, values: ended - released, total: reply.elapsedTime }
  const text = Object.entries(steps).map(([name, duration]) => `${name};dur=${duration.toFixed(3)}`)
  reply.headers({
    'server-timing': text.join(', '),
    'timing-allow-origin': reply.server.config.CORS_ORIGINS.join(', '),
    'preference-applied': PREFERENCE,
    // The next one to ask would be told of this one's time.
    'cache-control': 'no-store',
  })
  return answer
}
