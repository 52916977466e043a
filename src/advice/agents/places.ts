import type { LocationValidation } from '#schemas/location.ts'
import type { PointRequest } from '#schemas/point-request.ts'
import { ApiError, unknownCountry } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { untilGone } from '#src/http/deadline.ts'
import { withTimeout } from '#src/http/plugins/time-budget.ts'
import { clientKeyOf } from '#src/http/request.ts'
import { cacheLastValue } from '#src/lib/cache.ts'
import { nameKey, slipBetween } from '#src/lib/names.ts'
import type { Pause } from '#src/lib/turns.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import type { PublishedRelease } from '#src/lookup/releases.ts'
import { codesOf, type Snapshot } from '#src/lookup/snapshot.ts'
import type { AdviceService, Asker } from './advice-service.ts'
import {
  findAreasKeyed,
  findAreasNamed,
  listBoundarySources,
  listNamesAsLong,
  type NamedArea,
} from './queries.ts'
import type { Origin } from './tool.ts'

/** Says what is published, and whose it is. */
export interface Origins {
  snapshot(by: Asker): Promise<Snapshot>
  /** Of releases by their codes; of one that has been deleted since, nothing. */
  ofReleases(codes: readonly string[], by: Asker): Promise<Origin[]>
  /** Of the boundaries of countries; without a database those that were last known. */
  ofBoundaries(countryCodes: readonly string[]): Promise<Origin[]>
}

export function createOrigins({ config, database, logFailure }: App, lookup: Lookup): Origins {
  const boundaries = cacheLastValue('boundary sources', {
    load: () => listBoundarySources(database.reader),
    initial: () => [],
    ttlMs: config.RELEASE_MAX_AGE_MS,
    warn: (error) => logFailure(error, 'the sources of boundaries may be old'),
  })

  async function snapshot({ request, reply }: Asker): Promise<Snapshot> {
    return lookup.known() ?? withTimeout(request, reply, lookup.current)
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

/**
 * The code of a country as it is stored; null where none was sent.
 *
 * @throws {ApiError} INVALID_PARAMETERS where it is none of ours
 */
export function knownCountry(snapshot: Snapshot, code: string | undefined): string | null {
  if (code === undefined) return null
  const normal = code.trim().toLowerCase()
  const codes = codesOf(snapshot)
  if (!codes.includes(normal)) throw unknownCountry('country_code', codes)
  return normal
}

/** What a tool is asked of a point. */
type Asked = Pick<PointRequest, 'lat' | 'lng' | 'country_code' | 'crop' | 'forecast_period'>

/** The same, of a country. */
type Placed = Asked & { country_code: string }

/**
 * Fills in the country that a point lies in, and its first crop, where a request leaves them out.
 *
 * @throws {ApiError} OUTSIDE_COUNTRY where it lies in none of ours
 */
export async function placeMeant(service: AdviceService, asked: Asked, by: Asker): Promise<Placed> {
  const { country_code: country, crop } = asked
  if (country !== undefined && crop !== undefined) return { ...asked, country_code: country }
  return placeFrom(asked, await service.whereIs(asked, by))
}

/**
 * The same, where it is known where the point lies.
 *
 * @throws {ApiError} OUTSIDE_COUNTRY where it lies in none of ours
 */
export function placeFrom(asked: Asked, found: LocationValidation): Placed {
  const { lat, lng, country_code: country, crop } = asked
  const code = country ?? found.country_code
  if (code === null) throw nowhere(lat, lng, found)
  const offered = crop ?? found.crop
  return { ...asked, country_code: code, ...(offered !== null && { crop: offered }) }
}

function nowhere(lat: number, lng: number, { nearest, hint }: LocationValidation): ApiError {
  const near = nearest && ` The nearest is ${nearest.country}, ${nearest.distance_km} km away.`
  return new ApiError(
    'OUTSIDE_COUNTRY',
    `The point at latitude ${lat}, longitude ${lng} lies in none of the countries that there is advice for.${near ?? ''}${hint ? ` ${hint}` : ''}`,
  )
}

/** How many areas a name may mean for an agent to choose among them. */
const MOST_AREAS = 8

/** An area as somebody names it. */
interface AskedArea {
  /** A code or a name, or a part of it. */
  name: string
  country_code?: string | undefined
  level?: number | undefined
}

/**
 * Finds the areas that a name may mean, when the turn of the request comes: names have no index.
 *
 * @throws {ApiError} INVALID_PARAMETERS where the country is none of ours
 */
export type AreaSearch = (area: AskedArea, by: Asker) => Promise<FoundAreas>

/** What a search has found. */
interface FoundAreas {
  areas: NamedArea[]
  /** Where there are none: those whose names differ by a letter or two, the nearest first. */
  similar: NamedArea[]
}

export function createAreaSearch(app: App, origins: Origins): AreaSearch {
  const { reader } = app.database
  return async ({ name, country_code, level = null }, by) => {
    const { request, reply } = by
    const countryCode = knownCountry(await origins.snapshot(by), country_code)
    const place = { name, countryCode, level }
    const areas = await app.inTurn(request, reply, () => findAreasNamed(reader, place, MOST_AREAS))
    if (areas.length > 0) return { areas, similar: [] }
    const names = await app.inTurn(request, reply, () => listNamesAsLong(reader, place))
    const keys = await nearestTo(nameKey(name), names, () =>
      app.turns.next(clientKeyOf(request), untilGone(reply)),
    )
    if (keys.length === 0) return { areas, similar: [] }
    const wanted = { keys, countryCode, level }
    return {
      areas,
      similar: await app.inTurn(request, reply, () => findAreasKeyed(reader, wanted, MOST_AREAS)),
    }
  }
}

/** So many names are compared before others have their turn: about a millisecond. */
const PIECE = 100

/** The names that another one is a slip for, the nearest first. */
async function nearestTo(name: string, names: readonly string[], pause: Pause): Promise<string[]> {
  const near: { key: string; slip: number }[] = []
  for (const [index, key] of names.entries()) {
    if (index % PIECE === 0) await pause()
    const slip = slipBetween(name, key)
    if (slip !== Number.POSITIVE_INFINITY) near.push({ key, slip })
  }
  return near.sort((a, b) => a.slip - b.slip).map(({ key }) => key)
}

/**
 * The area that a name means: the one that is called exactly so, of the highest level that has one, or the only one in
 * whose name it is.
 *
 * @param areas as the search has found them
 * @returns undefined where there is none, or more than one
 */
export function areaMeant(areas: readonly NamedArea[]): NamedArea | undefined {
  const [first, second] = areas
  if (!first || !second) return first
  if (!first.exact) return undefined
  return second.exact && second.level === first.level ? undefined : first
}
