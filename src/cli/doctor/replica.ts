import { setTimeout as sleep } from 'node:timers/promises'
import { isDatabaseUnavailable } from '#src/database/failures.ts'
import { messageOf } from '#src/lib/caught.ts'
import type { Group, Patient } from './examination.ts'
import { error, note, ok, sizeText, spanText, warning } from './finding.ts'
import { findReplay, findWrittenPosition, type Replay } from './server-queries.ts'

/** A replica that is so far behind has been for longer than a burst of writing takes. */
const LATE_SECONDS = 10
const LOST_SECONDS = 300

/** For two seconds it is asked again. */
const ATTEMPTS = 10
const PAUSE_MS = 200

/** The replica that requests read from. */
export const replica: Group<Patient> = {
  group: 'replica',
  questions: {
    lag: async ({ ask, askReplica }) => {
      try {
        const position = await ask(findWrittenPosition)
        return [replayFinding(await replayOf(position, askReplica))]
      } catch (caught) {
        if (!isDatabaseUnavailable(caught)) throw caught
        return [
          error(
            `The replica of DATABASE_READ_URL cannot be asked: ${messageOf(caught)}.`,
            'Start it, or leave out DATABASE_READ_URL.',
          ),
        ]
      }
    },
  },
}

/** What is written at the moment is on its way: a replica that is well has it soon. */
async function replayOf(position: string, askReplica: Patient['askReplica']): Promise<Replay> {
  for (let attempt = 1; ; attempt++) {
    const replay = await askReplica((trx) => findReplay(trx, position))
    if (replay.behind === 0 || replay.paused || attempt === ATTEMPTS) return replay
    await sleep(PAUSE_MS)
  }
}

function replayFinding({ recovering, paused, behind, seconds }: Replay) {
  if (!recovering)
    return note('DATABASE_READ_URL names no replica, but a server that writes.', 'Is it the same database?')
  if (paused) {
    return warning(
      'The replica has paused: what it answers gets older.',
      'Say `select pg_wal_replay_resume()` there.',
    )
  }
  // Where all is replayed, the last transaction may be hours old because nobody has written since.
  if (behind === 0) return ok('The replica has all that the database has written.')
  const lag = seconds === null ? '' : `, ${spanText(seconds)}`
  const sentence = `The replica is ${sizeText(behind)}${lag} behind.`
  const advice = 'Look at its load and at the network between; requests that read get old answers.'
  if (seconds === null || seconds < LATE_SECONDS) return ok(sentence)
  return seconds < LOST_SECONDS ? warning(sentence, advice) : error(sentence, advice)
}
