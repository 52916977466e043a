import { isReplaced } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import type { Advisors } from './advisors.ts'
import { type ClaimedArea, claimAreas, giveBackAreas } from './queries.ts'
import { createBackgroundWork } from './work.ts'

/** A piece takes a second or so, and all of them less than the lease of a claim. */
const AREAS_A_PIECE = 10

/** The pause while requests compute, or another process claims. */
const BUSY_MS = 1000

/**
 * Computes the results of areas before the first request for them, one after the other, and begins none while a request asks
 * for polygons or areas. Processes share the areas by claims with leases.
 */
export function computeAreas(app: App, advisors: Advisors): void {
  const { log } = app
  // The look through many releases may take longer than a statement of a request.
  const { writer, patientWriter } = app.database
  let settled: string | undefined
  let computed = 0

  /** Computes one after the other until a request comes, or an area is not stored. */
  async function computeEach(
    areas: ClaimedArea[],
    signal: AbortSignal,
  ): Promise<{ next: boolean | number; failed?: ClaimedArea }> {
    const work = createBackgroundWork(app, 'areas', signal)
    for (const area of areas) {
      if (advisors.isBusy) return { next: BUSY_MS }
      try {
        await advisors.store(work, area.releaseId, area)
        computed++
      } catch (error) {
        if (signal.aborted || isReplaced(error)) return { next: false }
        app.logFailure(error, `the statistics of ${area.code} in ${area.release} were not computed`)
        return { next: false, failed: area }
      }
    }
    return { next: true }
  }

  function settle(state: string): void {
    settled = state
    if (computed > 0) log.info({ areas: computed }, 'all areas have results')
    computed = 0
  }

  async function computeSome(signal: AbortSignal): Promise<boolean | number> {
    if (advisors.isBusy) return BUSY_MS
    const claim = await claimAreas(patientWriter, AREAS_A_PIECE, settled)
    if (!claim) return BUSY_MS
    const { areas, state, alone } = claim
    if (areas.length === 0) {
      if (alone) settle(state)
      return false
    }
    const { next, failed } = await computeEach(areas, signal)
    await giveBackAreas(
      writer,
      areas.filter((area) => area !== failed),
    )
    return next
  }

  app.jobs.add('compute-areas', { failure: 'areas without statistics were not listed' }, computeSome)
}
