import type { FastifyReply } from 'fastify'
import type { SliceQueue } from '#src/lib/limiter.ts'

/**
 * Sends the answers of a turn of the event loop together at its end: between look-ups each one would wake a client, which
 * takes the kernel longer than the service takes for the answer.
 */
export function createReplyBatcher<Answer>(
  turns: SliceQueue,
  send: (answer: Answer, reply: FastifyReply) => void,
) {
  const answers: Answer[] = []
  const replies: FastifyReply[] = []

  function sendAll(): void {
    const ready = answers.splice(0)
    for (const [index, reply] of replies.splice(0).entries()) {
      try {
        send(ready[index] as Answer, reply)
      } catch (error) {
        reply.send(error)
      }
    }
  }

  return (answer: Answer, reply: FastifyReply): void => {
    answers.push(answer)
    if (replies.push(reply) === 1) turns.atEnd(sendAll)
  }
}
