import type { App } from '#src/http/app.ts'
import { inTime } from '#src/http/plugins/patience.ts'
import { createLastKnown } from '#src/lib/last-known.ts'
import type { Asker } from '../lookup/advice-desk.ts'
import type { Lookup } from '../lookup/lookup.ts'
import type { PublishedRelease } from '../lookup/published-release.ts'
import type { Snapshot } from '../lookup/snapshot.ts'
import { listBoundarySources } from './queries.ts'
import type { Origin } from './sources.ts'

/** Says what is published, and whose it is. */
export interface Origins {
  snapshot(by: Asker): Promise<Snapshot>
  /** Of releases by their codes; of one that has been deleted since, nothing. */
  ofReleases(codes: readonly string[], by: Asker): Promise<Origin[]>
  /** Of the boundaries of countries; without a database those that were last known. */
  ofBoundaries(countryCodes: readonly string[]): Promise<Origin[]>
}

export function createOrigins({ config, database, logFailure }: App, lookup: Lookup): Origins {
  const boundaries = createLastKnown({
    load: () => listBoundarySources(database.reader),
    otherwise: () => [],
    maxAgeMs: config.RELEASE_MAX_AGE_MS,
    warn: (error) => logFailure(error, 'the sources of boundaries may be old'),
  })

  async function snapshot({ request, reply }: Asker): Promise<Snapshot> {
    return lookup.known() ?? inTime(request, reply, lookup.current)
  }

  return {
    snapshot,
    async ofReleases(codes, by) {
      const { published } = await snapshot(by)
      return published.filter(({ code }) => codes.includes(code)).map(originOf)
    },
    async ofBoundaries(countryCodes) {
      const sets = (await boundaries()).filter(({ countryCode }) => countryCodes.includes(countryCode))
      return sets.map(({ countryCode, source, licence }) => ({
        of: `boundaries of ${countryCode}`,
        source,
        licence,
      }))
    },
  }
}

export function originOf({ code, source, licence }: PublishedRelease): Origin {
  return { of: code, source, licence }
}
