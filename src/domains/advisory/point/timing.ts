import type { FastifyReply } from 'fastify'
import { sayApplied } from '#src/http/preferences.ts'

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
    // The next one to ask would be told of this one's time.
    'cache-control': 'no-store',
  })
  sayApplied(reply, 'server-timing')
  return answer
}
