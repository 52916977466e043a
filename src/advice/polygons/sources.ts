import type { FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import type { ErrorBody } from '#schemas/common.ts'
import { MOST_POLYGONS, PolygonLabels } from '#schemas/polygons.ts'
import type { Series } from '#schemas/products/define.ts'
import { findAdminCountry, findOutlines, hasAreaAbove } from '#src/catalog/area-queries.ts'
import type { Tables } from '#src/data/tables.ts'
import { ApiError, noAreas, unknownCountry } from '#src/errors.ts'
import { validationError } from '#src/http/parameters.ts'
import { databaseError } from '#src/http/plugins/error-handler.ts'
import { isObject } from '#src/lib/json.ts'
import { inOrder, type Pause } from '#src/lib/limiter.ts'
import type { Wait } from '#src/lib/time-budget.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import type { SourceRelease, SourceReleases } from '#src/lookup/places.ts'
import { makeReleaseMembers, type PublishedRelease, ReplacedMeanwhile } from '#src/lookup/releases.ts'
import { listCodes, type Snapshot } from '#src/lookup/snapshot.ts'
import { readCollection, readFeatureName, type Validator } from '../bodies.ts'
import type { Region } from '../polygon/advisors.ts'
import { type Advice, hasValues, type PolygonItem } from '../polygon/answer.ts'
import { findInteriorPoint, type Outline, readGeoJson, toGeoJson } from '../polygon/geometry.ts'
import { type AreaInRelease, type AreaSelection, listAreasInRelease } from '../polygon/queries.ts'

export interface SentPolygon {
  id: PolygonItem['id']
  name: string | undefined
  /** The error of an invalid polygon. */
  outline: Outline | ErrorBody
}

/** The unchecked Features of a FeatureCollection. @throws {ApiError} for none, or too many of them */
export function listFeatures(collection: unknown): unknown[] {
  const { features } = readCollection(collection)
  if (!Array.isArray(features)) throw ApiError.invalid('features', 'must be an array')
  if (features.length === 0) throw ApiError.invalid('features', 'must not be empty')
  if (features.length <= MOST_POLYGONS) return features
  throw new ApiError(
    'TOO_MANY_POLYGONS',
    `The call has ${features.length} polygons. A call may have ${MOST_POLYGONS}: send several.`,
  )
}

/** Reads one of many polygons. Its error is its own, with the place in the Feature. */
export function readPolygon(request: FastifyRequest, feature: unknown): SentPolygon {
  const isLabels = request.compileValidationSchema(PolygonLabels) as Validator
  const { id = null, properties } = isObject(feature) ? feature : {}
  // Files have anything as `properties.id`.
  const own = id ?? (isObject(properties) ? properties.id : undefined)
  const sent = {
    id: isLabels({ id: own }) ? ((own ?? undefined) as PolygonItem['id']) : undefined,
    name: readFeatureName(feature, request),
  }
  const refused = (error: ApiError) => ({ ...sent, outline: error.body })
  if (id !== null && !isLabels({ id })) return refused(validationError(isLabels.errors ?? [], { id }))
  if (!isObject(feature) || feature.type !== 'Feature')
    return refused(ApiError.invalid('type', 'must be Feature'))
  try {
    return { ...sent, outline: readGeoJson({ value: feature, at: '' }) }
  } catch (error) {
    if (error instanceof ApiError) return refused(error)
    throw error
  }
}

/** @throws {ApiError} for an unknown country, level or parent, with the known ones */
export async function refuseUnknownAreas(
  db: Kysely<Tables>,
  snapshot: Snapshot,
  { countryCode, level, parent }: AreaSelection,
): Promise<void> {
  const isCountry = snapshot.countries.some(({ code }) => code === countryCode)
  const country = isCountry ? await findAdminCountry(db, countryCode, level) : undefined
  if (!country) throw unknownCountry('admin.country_code', listCodes(snapshot))
  if (!country.levels.includes(level)) throw noAreas(country, level)
  if (parent === null || (await hasAreaAbove(db, countryCode, level, parent))) return
  throw ApiError.invalid(
    'admin.parent',
    `must be the code of an area of ${country.name} above level ${level}`,
  )
}

interface PlacedPolygon extends SentPolygon {
  source: SourceRelease
}

/** Finds the source of each polygon, by a position inside. @throws {ApiError} where no polygon has a release */
export async function locatePolygons(
  { places, reasons }: Lookup,
  snapshot: Snapshot,
  sources: SourceReleases,
  sent: readonly SentPolygon[],
  wait: Wait,
  pause: Pause,
) {
  async function findSource({ outline }: SentPolygon): Promise<SourceRelease> {
    if (!sources.byPlace || 'error' in outline) return sources.of(null)
    await pause()
    const position = findInteriorPoint(outline.polygons)
    const [country = null] = await wait(() => places.findCountries(snapshot, [position]))
    return sources.of(country)
  }

  const polygons: PlacedPolygon[] = []
  for (const polygon of sent) polygons.push({ ...polygon, source: await findSource(polygon) })
  const used = new Set(polygons.filter(({ outline }) => !('error' in outline)).map(({ source }) => source))
  const all = used.size > 0 ? [...used] : [sources.of(null)]
  const release = all.flatMap((source) => source.release ?? [])[0]
  if (!release) throw await wait(() => reasons.noRelease(snapshot, (all[0] as SourceRelease).series))
  return { polygons, sources: all, release }
}

/** Polygons of a call that wait or are computed at the same time: the most of one caller. */
const AT_ONCE = 2

const AREAS_A_PAGE = 100

export interface ItemSource {
  wait: Wait
  pause: Pause
  reasons: Lookup['reasons']
  snapshot: Snapshot
  series: Series
  release: PublishedRelease
  /** Advises with a deadline of its own, which begins with its turn. */
  adviseIn: (release: PublishedRelease, region: Region) => Promise<Advice>
  /** Waits for a connection before the answer begins: the queue may refuse it. */
  waitInTurn: Wait
  /** Waits for a connection within the answer. */
  goOnInTurn: Wait
  hasShapes: boolean
  /** Whether a database error within the answer cuts the connection, and is no last item. */
  cutAtFault: boolean
}

/** An error of its own is the reason of a polygon; any other fails the call. The first may still be refused. */
async function findOutcome(
  { reasons, snapshot, wait }: ItemSource,
  series: Series,
  advise: () => Promise<Advice>,
  isFirst: boolean,
): Promise<Pick<PolygonItem, 'advice' | 'reason'>> {
  try {
    const advice = await advise()
    if (hasValues(advice)) return { advice, reason: null }
    const reason = await wait(() => reasons.noValue(snapshot, series, advice.position, 'polygon'))
    return { advice, reason: reason.body }
  } catch (error) {
    if (error instanceof ApiError && isOwn(error, isFirst)) return { advice: null, reason: error.body }
    throw error
  }
}

/** Whether an error concerns one polygon: a failure of the service concerns all. */
function isOwn({ code, status }: ApiError, isFirst: boolean): boolean {
  return status < 500 || code === 'QUERY_TIMEOUT' || (code === 'OVERLOADED' && !isFirst)
}

/** @param isFirst whether the answer has not begun, so that the call can still be refused */
type Task = (isFirst: boolean) => Promise<PolygonItem>

/** The tasks of polygons in their order. @param sent loses each polygon with its turn */
export async function* listPolygonTasks(source: ItemSource, sent: PlacedPolygon[]): AsyncGenerator<Task> {
  const { snapshot, reasons, wait, adviseIn, pause, hasShapes } = source
  for (let next = sent.shift(); next; next = sent.shift()) {
    const { id, name, outline } = next
    const { series, release, members } = next.source
    const item = { id, name, members, geometry: null, advice: null }
    yield async (isFirst) => {
      if ('error' in outline) return { ...item, reason: outline }
      if (!release) return { ...item, reason: (await wait(() => reasons.noRelease(snapshot, series))).body }
      const outcome = await findOutcome(source, series, () => adviseIn(release, outline.polygons), isFirst)
      await pause()
      return { ...item, geometry: hasShapes ? JSON.stringify(toGeoJson(outline)) : null, ...outcome }
    }
  }
}

/** The tasks of areas in the order of their codes. @throws {ReplacedMeanwhile} for replaced boundaries */
export async function* listAreaTasks(
  source: ItemSource,
  db: Kysely<Tables>,
  selection: AreaSelection,
): AsyncGenerator<Task> {
  const { release, series, adviseIn, waitInTurn, goOnInTurn, hasShapes } = source
  const members = makeReleaseMembers(release)
  let last: AreaInRelease | undefined
  for (;;) {
    const { code = null, version } = last ?? {}
    const wait = last ? goOnInTurn : waitInTurn
    const areas = await wait(() => listAreasInRelease(db, selection, release.id, code, AREAS_A_PAGE))
    if (version !== undefined && areas.some((area) => area.version !== version)) throw new ReplacedMeanwhile()
    const shapes = hasShapes && areas.length > 0 ? await wait(() => findOutlines(db, areas)) : []
    for (const [index, area] of areas.entries()) {
      const item = { id: area.code, name: undefined, members, geometry: shapes[index] ?? null }
      const advise = () => adviseIn(release, area)
      yield async (isFirst) => ({ ...item, ...(await findOutcome(source, series, advise, isFirst)) })
    }
    if (areas.length < AREAS_A_PAGE) return
    last = areas.at(-1)
  }
}

/** Computes items. After a database error within the answer, the last item has its reason. */
export async function* computeItems(
  { cutAtFault }: ItemSource,
  tasks: AsyncIterable<Task>,
): AsyncGenerator<PolygonItem> {
  let isFirst = true
  try {
    for await (const item of inOrder(begin(tasks), AT_ONCE)) {
      yield item
      isFirst = false
    }
  } catch (error) {
    const fault = error instanceof ApiError ? error : databaseError(error)
    if (isFirst || cutAtFault || !fault) throw error
    const none = { id: undefined, name: undefined, members: {}, geometry: null, advice: null }
    yield { ...none, reason: fault.body }
  }
}

async function* begin(tasks: AsyncIterable<Task>): AsyncGenerator<() => Promise<PolygonItem>> {
  let isFirst = true
  for await (const task of tasks) {
    yield task.bind(null, isFirst)
    isFirst = false
  }
}
