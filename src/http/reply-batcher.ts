import type { FastifyReply } from 'fastify'
import type { SliceQueue } from '#src/lib/turns.ts'

/**
 * Sends the answers of a turn of the event loop together at its end. Between look-ups each answer would wake a client
 * that sleeps again, and the kernel takes longer for that than the service for the answer.
 *
 * @param send throws the error of one request alone
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
