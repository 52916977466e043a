import { overloaded } from '#src/http/plugins/overload.ts'
import type { Party } from '#src/lib/fair-line.ts'
import type { FairRoom } from '#src/lib/fair-room.ts'
import type { Wait } from '#src/lib/patience.ts'
import type { PinnedReleases } from './pinned.ts'
import type { PublishedRelease } from './published-release.ts'
import { ReplacedMeanwhile } from './replaced.ts'
import type { RequestedSeries } from './series.ts'
import type { Snapshot, Snapshots } from './snapshot.ts'

/** Work in what is published. */
export type WorkInSnapshot<Result> = (snapshot: Snapshot) => Promise<Result>

/** Work in the release that answers for a series; undefined where nothing is published for it. */
export type WorkInRelease<Result> = (
  snapshot: Snapshot,
  release: PublishedRelease | undefined,
) => Promise<Result>

/** Decides which release answers: the one that a request names, or else the one that is published for what it asks for. */
export interface Answering {
  /**
   * The release that answers now; undefined where nothing is published for what is asked for.
   *
   * @throws {ApiError} NOT_FOUND or RELEASE_GONE, where one is named that is not there
   */
  releaseOf(series: RequestedSeries): Promise<PublishedRelease | undefined>
  /**
   * Does work in the release that answers for a series. The one place that decides which that is: where it
   * is replaced before the work is done, the work begins anew in what has taken its place.
   *
   * @param wait by which it is waited for what is published
   * @throws {ApiError} OVERLOADED where it is replaced again and again; what `releaseOf` throws
   */
  inRelease<Result>(series: RequestedSeries, work: WorkInRelease<Result>, wait?: Wait): Promise<Result>
  /**
   * The same for work that waits for the database together with that of others.
   *
   * @throws {ApiError} OVERLOADED where more than DATABASE_QUEUE_LIMIT wait, and the party has most of them
   */
  inReleaseQueued<Result>(
    series: RequestedSeries,
    party: Party,
    work: WorkInRelease<Result>,
    wait?: Wait,
  ): Promise<Result>
  /** The same for work that is about more than one series. */
  inSnapshotQueued<Result>(party: Party, work: WorkInSnapshot<Result>): Promise<Result>
}

/** That a release is deleted while it is read happens; so often in a row, only while much is being replaced. */
const ATTEMPTS = 5

export function createAnswering(snapshots: Snapshots, pinned: PinnedReleases, room: FairRoom): Answering {
  /** Where what is published is replaced before the work is done, the work begins anew. */
  async function inSnapshot<Result>(
    work: WorkInSnapshot<Result>,
    wait: Wait = (something) => something(),
  ): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      const snapshot = await wait(attempt === 1 ? snapshots.current : snapshots.renewed)
      try {
        return await work(snapshot)
      } catch (error) {
        if (!(error instanceof ReplacedMeanwhile)) throw error
        if (attempt === ATTEMPTS) throw overloaded()
      }
    }
  }

  /** Where a release that was named is found to be gone or elsewhere, it is looked for again, and that says so. */
  function inNamed<Result>(code: string, work: WorkInRelease<Result>, wait: Wait | undefined) {
    return inSnapshot(async (snapshot) => {
      const find = () => pinned.find(snapshot, code)
      const { release } = await (wait ? wait(find) : find())
      try {
        return await work(snapshot, release)
      } catch (error) {
        if (error instanceof ReplacedMeanwhile) pinned.forget(code)
        throw error
      }
    }, wait)
  }

  const inRelease: Answering['inRelease'] = (series, work, wait) =>
    series.release === undefined
      ? inSnapshot((snapshot) => work(snapshot, snapshot.releaseOf(series)), wait)
      : inNamed(series.release, work, wait)

  return {
    async releaseOf(series) {
      const snapshot = await snapshots.current()
      if (series.release === undefined) return snapshot.releaseOf(series)
      return (await pinned.find(snapshot, series.release)).release
    },
    inRelease,
    inReleaseQueued: (series, party, work, wait) => room.run(party, () => inRelease(series, work, wait)),
    inSnapshotQueued: (party, work) => room.run(party, () => inSnapshot(work)),
  }
}
