import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '#src/config.ts'
import { isDatabaseUnavailable } from '#src/database/failures.ts'
import { codeOf, messageOf } from '#src/lib/caught.ts'
import type { Group, Patient } from './examination.ts'
import { note, ok, sizeText, spanText, warning } from './finding.ts'
import { findReplay, findWrittenPosition, type Replay } from './server-queries.ts'

/** For two seconds it is asked again. */
const ATTEMPTS = 10
const PAUSE_MS = 200

/** The replica that requests read from. */
export const replica: Group<Patient> = {
  group: 'replica',
  questions: {
    lag: async ({ config, ask, askReplica }) => {
      const position = await ask(findWrittenPosition)
      try {
        return [replayFinding(await replayOf(position, askReplica), config)]
      } catch (caught) {
        if (!isDatabaseUnavailable(caught)) throw caught
        return [
          warning(
            `The replica of DATABASE_READ_URL cannot be asked, so that its reads are the primary's: ${messageOf(caught) || codeOf(caught)}.`,
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

function replayFinding({ recovering, paused, behind, seconds }: Replay, { READ_MAX_LAG_MS }: Config) {
  if (!recovering)
    return note('DATABASE_READ_URL names no replica, but a server that writes.', 'Is it the same database?')
  if (paused) {
    return warning(
      'The replica has paused: what is written from now on is read from the primary.',
      'Say `select pg_wal_replay_resume()` there.',
    )
  }
  // Where all is replayed, the last transaction may be hours old because nobody has written since.
  if (behind === 0) return ok('The replica has all that the database has written.')
  const lag = seconds === null ? '' : `, ${spanText(seconds)}`
  const sentence = `The replica is ${sizeText(behind)}${lag} behind`
  if (seconds !== null && seconds * 1000 <= READ_MAX_LAG_MS) return ok(`${sentence}.`)
  return warning(
    `${sentence}, more than READ_MAX_LAG_MS: its reads are the primary's.`,
    'Look at its load and at the network between.',
  )
}
