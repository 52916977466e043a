import type { Group, Patient } from './examination.ts'
import { error, ok, warning } from './finding.ts'
import { readClock } from './server-queries.ts'

/** Times are compared across both: tokens, records, what is over. */
const APART_SECONDS = 2
const FAR_APART_SECONDS = 60

export const clock: Group<Patient> = {
  group: 'clock',
  questions: {
    difference: async ({ ask }) => {
      const before = Date.now()
      const theirs = await ask(readClock)
      const after = Date.now()
      // Where it lies within the time of the question, nobody can tell that they differ.
      const seconds = Math.max(0, before - theirs, theirs - after) / 1000
      if (seconds === 0) return [ok('The clocks of this machine and of the database agree.')]
      const sentence = `The clocks of this machine and of the database differ by ${seconds.toFixed(1)} s.`
      const advice = 'Have both set by NTP.'
      if (seconds > FAR_APART_SECONDS) return [error(sentence, advice)]
      return [seconds > APART_SECONDS ? warning(sentence, advice) : ok(sentence)]
    },
  },
}
