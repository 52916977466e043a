import { isSuccess } from '#bench/load/client.ts'
import { type Fault, type Publication, REPLICA_MAX_LAG_MS } from './fault.ts'
import type { Asked, What } from './load/plan.ts'

/**
 * How long whoever asks again and again waited for a right answer at most, of what was not answered at times: from a
 * request until the first answer to this one or one that was sent later. It is infinite where none came any more.
 */
export function longestStop(asked: Asked[], what: readonly What[]): number {
  return Math.max(0, ...what.map((one) => longestStopOf(asked.filter((other) => other.what === one))))
}

function longestStopOf(asked: Asked[]): number {
  let longest = 0
  let firstAnswer = Number.POSITIVE_INFINITY
  for (const { at, ms, status, wrong } of asked.toSorted((a, b) => b.at - a.at)) {
    // That the first of two is still worked on is no failure.
    if (status === 409) continue
    if (isSuccess({ status }) && wrong === undefined) firstAnswer = Math.min(firstAnswer, at + ms)
    longest = Math.max(longest, firstAnswer - at)
  }
  return longest
}

/** What a fault came to. */
export interface Outcome {
  fault: Pick<
    Fault,
    'name' | 'on' | 'happens' | 'unnoticed' | 'stops' | 'endsProcess' | 'recoveryMs' | 'longestMs'
  >
  /** Milliseconds since 1970: when it began and was over. */
  from: number
  to: number
  asked: Asked[]
  publications: Publication[]
  /** What is not as it was acknowledged. */
  lost: string[]
  acknowledged: number
  /** Lines of the log at the level warn or above. */
  complaints: number
  /** Whether the process was there in the end, the one from before where the fault is not about it. */
  isUp: boolean
}

export interface Verdict {
  requests: number
  /** Answered with a success that is right. */
  right: number
  refused: number
  unanswered: number
  /** Milliseconds until the slowest answer. */
  slowest: number
  /** How long after the end of the fault the last request was sent that failed. */
  recoveredMs: number
  /** What must not be, a sentence each; none where all is well. */
  mistakes: string[]
}

/**
 * How long an answer may take: what is promised, and what a busy machine adds. Who waits for a password to be hashed may
 * wait for somebody before who waits for the database, and then for the database.
 */
const LONGEST_MS: Partial<Record<What, number>> = { polygon: 5500, login: 5500, registration: 5500 }
const OTHERS_LONGEST_MS = 3250
const RELEASE_MAX_AGE_MS = 2000
/** An incident is a line when it begins, one a minute, and one at its end; a few may go on at once. */
const MOST_COMPLAINTS = 30

export function judge(outcome: Outcome): Verdict {
  const { fault, to, asked, publications } = outcome
  const failed = asked.filter((one) => !isSuccess(one))
  const wrong = asked.filter(({ wrong }) => wrong !== undefined)
  const hasReplica = fault.on === 'replica' || fault.on === 'cluster'
  const maxAgeMs = RELEASE_MAX_AGE_MS + (hasReplica ? REPLICA_MAX_LAG_MS : 0)
  const stale = asked.filter((one) => !isCurrent(one, publications, maxAgeMs))
  const unanswered = failed.filter(({ status }) => status === 0)
  const late = asked.filter(({ what, ms }) => ms > (fault.longestMs ?? LONGEST_MS[what] ?? OTHERS_LONGEST_MS))
  const unexpected = failed.filter((one) => !isExpected(one, outcome))
  const noticed = failed.filter(({ what, at }) => fault.unnoticed.includes(what) && at <= to)
  // That the first of two is still worked on is no failure.
  const recoveredMs = Math.max(0, ...failed.filter(({ status }) => status !== 409).map(({ at }) => at - to))
  const slowest = Math.max(...asked.map(({ ms }) => ms))
  const mistakes = [
    ...counted(wrong, 'wrong'),
    ...counted(stale, 'of a release that was not published'),
    ...counted(unexpected, 'with a status that is not expected'),
    ...counted(fault.endsProcess ? [] : late, `late, up to ${Math.round(slowest)} ms`),
    ...counted(noticed, 'that nobody should notice it in'),
    ...stoppedTooLong(outcome),
    ...outcome.lost,
    ...(recoveredMs > fault.recoveryMs ? [`requests failed for ${Math.round(recoveredMs)} ms after it`] : []),
    ...(outcome.complaints > MOST_COMPLAINTS ? [`${outcome.complaints} lines in the log`] : []),
    ...(outcome.isUp ? [] : ['the process is not up']),
  ]
  return {
    requests: asked.length,
    right: asked.length - failed.length - wrong.length,
    refused: failed.length - unanswered.length,
    unanswered: unanswered.length,
    slowest,
    recoveredMs,
    mistakes,
  }
}

function stoppedTooLong({ fault, asked }: Outcome): string[] {
  return (fault.stops ?? []).flatMap(({ what, longestMs }) =>
    what.flatMap((one) => {
      const ms = longestStop(asked, [one])
      return ms > longestMs ? [`${one} stopped for ${Math.round(ms)} ms`] : []
    }),
  )
}

/** Whether a failure is one that there may be. */
function isExpected({ what, status, retryAfter }: Asked, { fault }: Outcome): boolean {
  if (status === 0) return fault.endsProcess === true
  // What is sent again while the first is worked on.
  if (status === 409 && what === 'kept point') return true
  return status === 503 && retryAfter
}

/** Whether a release was published at any moment that an answer may be of. */
function isCurrent({ release, at, ms }: Asked, publications: Publication[], maxAgeMs: number): boolean {
  if (!publications.some(({ code }) => code === release)) return true
  return publications.some(({ code, from }, index) => {
    const until = publications[index + 1]?.done ?? Number.POSITIVE_INFINITY
    return code === release && from <= at + ms && until >= at - maxAgeMs
  })
}

/** How many there are, of what, and the first of them. */
export function counted(some: Asked[], how: string): string[] {
  if (some.length === 0) return []
  const kinds = new Map<string, Asked[]>()
  for (const one of some) {
    const kind = `${one.what} ${one.status}`
    kinds.set(kind, [...(kinds.get(kind) ?? []), one])
  }
  const told = [...kinds].map(([kind, list]) => `${list.length} ${kind}`).join(', ')
  const [first] = some as [Asked]
  return [`${how}: ${told}${first.wrong === undefined ? '' : ` (${first.wrong})`}`]
}
