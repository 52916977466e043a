import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError, BASE } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { untilGone } from '#src/http/deadline.ts'
import { partyOf } from '#src/http/party.ts'
import { overloaded } from '#src/http/plugins/overload.ts'
import { inTime } from '#src/http/plugins/patience.ts'
import { monthAndYear } from '#src/lib/month.ts'
import { roundDegrees } from '#src/lib/round.ts'
import type { Lookup } from '../../lookup/lookup.ts'
import type { PublishedRelease } from '../../lookup/published-release.ts'
import type { Snapshot } from '../../lookup/snapshot.ts'
import { DEFAULT_CRS, type Rectangle } from '../crs.ts'
import { listReleaseFacts, type ReleaseFacts } from './extent-queries.ts'
import { parametersOfRelease, type ReleaseParameter } from './parameters.ts'

/** The paths of EDR begin with it, below those of the OGC API. */
export const EDR_PATH = '/edr'

/** Releases that are put together without letting others go on. */
const RELEASES_A_SLICE = 50

/** A release as a collection. */
export interface ReleaseCollection {
  release: PublishedRelease
  facts: ReleaseFacts
  title: string
  /** What it is, whether its values are synthetic, and whose they are. */
  description: string
  parameters: ReleaseParameter[]
  /** The first moment of the month that it is about; null where it is of no time. */
  time: string | null
}

/** Finds releases as collections. */
export interface Releases {
  /** In the order of their codes; the same array as long as nothing has changed. */
  all(request: FastifyRequest, reply: FastifyReply): Promise<readonly ReleaseCollection[]>
  /** @throws {ApiError} NOT_FOUND where no release with this code is published */
  named(request: FastifyRequest, reply: FastifyReply, code: string): Promise<ReleaseCollection>
}

export function createReleases(app: App, lookup: Lookup): Releases {
  /** Some hundred bytes each, for as long as they are published. */
  const known = new WeakMap<PublishedRelease, ReleaseFacts>()
  const lists = new WeakMap<Snapshot, readonly ReleaseCollection[]>()

  function collectionOf(release: PublishedRelease, snapshot: Snapshot): ReleaseCollection {
    const facts = known.get(release)
    // It has been deleted since the snapshot was taken, which soon will be another.
    if (!facts) throw overloaded()
    const product = app.products.of(release.product)
    const title = titleOf(product.names.title, release, snapshot)
    return {
      release,
      facts,
      title,
      description: descriptionOf(title, release, facts),
      parameters: parametersOfRelease(product, release),
      time: release.forecastPeriod && `${release.forecastPeriod.slice(0, 10)}T00:00:00Z`,
    }
  }

  /** Has the facts of some releases known, of those that have not been deleted. */
  async function learn(
    request: FastifyRequest,
    reply: FastifyReply,
    releases: readonly PublishedRelease[],
  ): Promise<void> {
    const missing = new Map(
      releases.filter((release) => !known.has(release)).map((release) => [release.id, release]),
    )
    if (missing.size === 0) return
    const read = () => listReleaseFacts(app.database.reader, [...missing.keys()])
    for (const facts of await app.inTurn(request, reply, read)) {
      known.set(missing.get(facts.id) as PublishedRelease, facts)
    }
  }

  return {
    async all(request, reply) {
      const snapshot = await inTime(request, reply, lookup.current)
      const before = lists.get(snapshot)
      if (before) return before
      const { published } = snapshot
      await learn(request, reply, published)
      const gone = untilGone(reply)
      const collections: ReleaseCollection[] = []
      for (const release of published.toSorted((one, other) => (one.code < other.code ? -1 : 1))) {
        if (collections.length % RELEASES_A_SLICE === 0) await app.turns.next(partyOf(request), gone)
        collections.push(collectionOf(release, snapshot))
      }
      lists.set(snapshot, collections)
      return collections
    },
    async named(request, reply, code) {
      const snapshot = await inTime(request, reply, lookup.current)
      const release = snapshot.published.find((one) => one.code === code)
      if (!release) throw noCollection(code)
      await learn(request, reply, [release])
      return collectionOf(release, snapshot)
    },
  }
}

export function noCollection(code: string): ApiError {
  const list = `\`GET ${BASE}/ogc${EDR_PATH}/collections\` lists those that there are`
  return new ApiError('NOT_FOUND', `There is no collection ${code}; ${list}.`)
}

function titleOf(name: string, release: PublishedRelease, { countries }: Snapshot): string {
  const country = countries.find(({ code }) => code === release.countryCode)?.name ?? release.countryCode
  const crop = release.cropCode === null ? '' : ` of ${release.cropCode}`
  const month = release.forecastPeriod === null ? '' : `, ${monthAndYear(release.forecastPeriod)}`
  return `${name}${crop} in ${country}${month}`
}

function descriptionOf(title: string, { synthetic }: PublishedRelease, { source, licence }: ReleaseFacts) {
  const warning = synthetic ? 'The values are synthetic: made by a formula, not by agronomists. ' : ''
  return `${title}. ${warning}Source: ${source} (${licence}).`
}

/** Where a release or a layer of it lies, and of which month it is. */
export function extentOf({ time }: Pick<ReleaseCollection, 'time'>, bbox: Rectangle) {
  return {
    spatial: { bbox: [bbox.map(roundDegrees)], crs: DEFAULT_CRS.uri },
    ...(time !== null && {
      temporal: { interval: [[time, lastMomentOf(time)]], values: [time], trs: 'Gregorian' },
    }),
  }
}

/** The last second of the month that a time begins. */
function lastMomentOf(time: string): string {
  const first = new Date(time)
  const last = Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 1) - 1000
  return new Date(last).toISOString().replace('.000', '')
}
