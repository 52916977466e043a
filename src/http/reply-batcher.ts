import type { FastifyReply } from 'fastify'
import type { Turns } from '#src/lib/turns.ts'

/**
 * Makes a function that sends answers at the end of the event loop's turn, one right after the other.
 *
 * Requests that are read in one turn would otherwise be answered one by one between looking up the next,
 * and each answer wakes a client that has gone to sleep since the one before: the kernel takes longer for
 * that than we do for the answer. An answer alone waits for nobody.
 *
 * @param turns of the event loop
 * @param send sends one; an error that it throws is answered to its request alone
 */
export function createReplyBatcher<Answer>(
  turns: Turns,
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
