import type { FastifyRequest } from 'fastify'
import type { ErrorBody } from '#schemas/common.ts'
import type { PolygonName } from '#schemas/polygon.ts'
import { MOST_POLYGONS, PolygonLabels } from '#schemas/polygons.ts'
import type { Series } from '#schemas/products/define.ts'
import { findAdminCountry, findOutlines, refuseWithoutAreas } from '#src/catalog/area-queries.ts'
import type { Db } from '#src/data/tables.ts'
import { ApiError, ReplacedMeanwhile, unknownCountry } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import type { Exchange } from '#src/http/exchange.ts'
import { ID_RULE, isNumberId, validationError } from '#src/http/parameters.ts'
import { databaseError } from '#src/http/plugins/error-handler.ts'
import { isObject } from '#src/lib/json.ts'
import { inOrder } from '#src/lib/limiter.ts'
import type { Wait } from '#src/lib/time-budget.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import type { SourceRelease, SourceReleases } from '#src/lookup/places.ts'
import { makeReleaseMembers, type PublishedRelease } from '#src/lookup/releases.ts'
import { listCodes, type Snapshot } from '#src/lookup/snapshot.ts'
import type { DistributionOptions } from '#src/raster/distribution.ts'
import { measureBounds, type Rings } from '#src/raster/rings.ts'
import { readCollection, readFeatureName, type Validator } from '../bodies.ts'
import type { Advisors } from '../polygon/advisors.ts'
import { type Advice, hasValues } from '../polygon/answer.ts'
import {
  findInteriorPoint,
  MAX_VERTICES,
  type Outline,
  readGeoJson,
  writeGeoJson,
} from '../polygon/geometry.ts'
import { type AreaInRelease, listAreasInRelease } from '../polygon/queries.ts'
import type { MeasuredPolygons, Polygons, Region } from '../polygon/weighing.ts'
import type { LongWork } from '../polygon/work.ts'
import type { PolygonItem } from './items.ts'

declare module 'fastify' {
  interface FastifyInstance {
    placeSources: readonly PlaceSource[]
  }
}

/** Polygons of a caller, which requests name. */
export interface PlaceSource {
  /** One of them, which may also be the `place` of a request. */
  one: PolygonName & {
    /** Whether a text may name one: names of areas may be written alike. */
    isLike(text: string): boolean
    /** @throws {ApiError} NOT_FOUND, or INSUFFICIENT_SCOPE */
    find(exchange: Exchange, text: string): Promise<NamedPolygon>
  }
  many: PolygonName & {
    /** @throws {ApiError} NOT_FOUND, or INSUFFICIENT_SCOPE */
    find(exchange: Exchange, name: string): Promise<OpenPolygons>
  }
}

interface NamedPolygon {
  id: string
  name: string | null
  polygons: Rings[]
}

/** Opens the polygons for an answer. */
export type OpenPolygons = (app: App, lookup: Lookup, reading: PolygonReading) => PolygonReader

interface PolygonReading {
  snapshot: Snapshot
  sources: SourceReleases
  work: LongWork
  /** Whether the answer has shapes. */
  hasShapes: boolean
}

interface PolygonReader {
  /** Finds the sources of all. @throws {ApiError} where none has a release */
  locate(): ReturnType<typeof locatePolygons>
  /** @throws {ApiError} NOT_FOUND where they were deleted meanwhile */
  pages(): AsyncGenerator<LocatedPolygon[]>
}

/** The areas of a level, or those within another area. */
export interface LevelSelection {
  countryCode: string
  level: number
  /** The code of an area above; null for all. */
  parent: string | null
}

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

/** Reads one of many polygons. Its error is its own, with the path in the Feature. */
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
  if (typeof id === 'number' && !isNumberId(id)) return refused(ApiError.invalid('id', ID_RULE))
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
  db: Db,
  snapshot: Snapshot,
  { countryCode, level, parent }: LevelSelection,
): Promise<void> {
  const isCountry = snapshot.countries.some(({ code }) => code === countryCode)
  const country = isCountry ? await findAdminCountry(db, countryCode, level) : undefined
  if (!country) throw unknownCountry('admin.country_code', listCodes(snapshot))
  await refuseWithoutAreas(db, country, level, { field: 'admin.parent', parent })
}

export interface LocatedPolygon extends SentPolygon {
  source: SourceRelease
  /** Of a saved field. */
  measured?: MeasuredPolygons
}

/** Finds the source of each polygon, by a position inside. @throws {ApiError} where no polygon has a release */
export async function locatePolygons(
  { places, reasons }: Lookup,
  snapshot: Snapshot,
  sources: SourceReleases,
  sent: readonly SentPolygon[],
  { wait, pause }: Pick<LongWork, 'wait' | 'pause'>,
) {
  async function findSource({ outline }: SentPolygon): Promise<SourceRelease> {
    if (!sources.byPlace || 'error' in outline) return sources.of(null)
    await pause()
    const position = findInteriorPoint(outline.polygons)
    const [country = null] = await wait(() => places.findCountries(snapshot, [position]))
    return sources.of(country)
  }

  const polygons: LocatedPolygon[] = []
  for (const polygon of sent) polygons.push({ ...polygon, source: await findSource(polygon) })
  const valid = polygons.filter(({ outline }) => !('error' in outline))
  return {
    polygons,
    ...(await chooseRelease(
      valid.map(({ source }) => source),
      sources,
      snapshot,
      reasons,
      wait,
    )),
  }
}

/** The sources of a call, and the first of their releases. @throws {ApiError} where there is none */
export async function chooseRelease(
  used: Iterable<SourceRelease>,
  sources: SourceReleases,
  snapshot: Snapshot,
  reasons: Lookup['reasons'],
  wait: Wait,
) {
  const distinct = [...new Set(used)]
  const all = distinct.length > 0 ? distinct : [sources.of(null)]
  const release = all.flatMap((source) => source.release ?? [])[0]
  if (!release) throw await wait(() => reasons.noRelease(snapshot, (all[0] as SourceRelease).series))
  return { sources: all, release }
}

/** Tasks of a call that wait or are computed at the same time: the most of one caller. */
const AT_ONCE = 2

/** Small polygons of one task, which share statements. All together have no more vertices than one polygon may have. */
const SMALL_AT_ONCE = 200

/** Square degrees of their bounds, in all: about 60 km2, which bounds the memory of their pixels. */
const SMALL_DEGREES = 0.005

/** Bytes of stored weights, in all: nine or ten a pixel. */
const SMALL_BYTES = 65_536

/** Hectares of fields with stored weights: as much, since the pixels of another grid may be many more. */
const SMALL_HA = 6000

const AREAS_A_PAGE = 100

interface ManyCall {
  work: LongWork
  reasons: Lookup['reasons']
  advisors: Advisors
  distribution: DistributionOptions | null
  hasShapes: boolean
  /** Whether a database error within the answer cuts the connection, and is no last item. */
  cutAtFault: boolean
}

/** Gives an error that concerns one polygon: a failure of the service concerns all. The first may still be refused. */
async function orOwnError<Found>(isFirst: boolean, advice: Promise<Found>): Promise<Found | ApiError> {
  try {
    return await advice
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { code, status } = error
    const isOwn = status < 500 || code === 'QUERY_TIMEOUT' || (code === 'OVERLOADED' && !isFirst)
    if (isOwn) return error
    throw error
  }
}

/** @param isFirst whether the answer has not begun, so that the call can still be refused */
type Task = (isFirst: boolean) => Promise<PolygonItem[]>

type Outcome = Pick<PolygonItem, 'advice' | 'reason'>

/** How many of the next polygons are one task: those of one release that are small together, or one. */
function countSmall(sent: readonly LocatedPolygon[]): number {
  const [first] = sent as [LocatedPolygon]
  let [degrees, vertices, bytes, hectares] = [SMALL_DEGREES, MAX_VERTICES, SMALL_BYTES, SMALL_HA]
  const end = sent.findIndex(({ source, outline, measured }, index) => {
    if (source !== first.source || index === SMALL_AT_ONCE) return true
    if ('error' in outline) return false
    if (measured?.storedBytes !== undefined) {
      bytes -= measured.storedBytes
      hectares -= measured.areaHa
      return index > 0 && (bytes < 0 || hectares < 0)
    }
    const rings = outline.polygons.flat()
    const [west, south, east, north] = measureBounds(rings)
    degrees -= (east - west) * (north - south)
    vertices -= rings.reduce((sum, { length }) => sum + length / 2, 0)
    return index > 0 && (degrees < 0 || vertices < 0)
  })
  return end === -1 ? sent.length : end
}

/** The polygons to compute: none of an invalid one. */
function listValid({ outline, measured }: LocatedPolygon): Polygons[] {
  return 'error' in outline ? [] : [measured ?? outline.polygons]
}

type AnsweringSource = Pick<SourceRelease, 'series'> & { release: PublishedRelease }

/** Makes the lists of tasks of a call. Each polygon has a deadline of its own, which begins with its computation. */
export function createTasks(
  { work, reasons, advisors, distribution, hasShapes }: ManyCall,
  snapshot: Snapshot,
) {
  const { wait, pause } = work

  function adviseIn({ series, release }: AnsweringSource, region: Region, isFirst: boolean) {
    return orOwnError(isFirst, advisors.adviseIn(work, release, region, series.condition, distribution))
  }

  async function explain(series: Series, found: Advice | ApiError): Promise<Outcome> {
    if (found instanceof ApiError) return { advice: null, reason: found.body }
    if (hasValues(found)) return { advice: found, reason: null }
    const reason = await wait(() => reasons.noValue(snapshot, series, found.position, 'polygon'))
    return { advice: found, reason: reason.body }
  }

  /** Where several are too slow together, each has a deadline of its own. */
  async function findOutcomes({ series, release }: SourceRelease, group: Polygons[], isFirst: boolean) {
    if (!release) {
      const reason = (await wait(() => reasons.noRelease(snapshot, series))).body
      return group.map((): Outcome => ({ advice: null, reason }))
    }
    const adviseOnEach = () =>
      orOwnError(isFirst, advisors.adviseOnEach(work, release, group, series.condition, distribution))
    const together = group.length > 1 ? await adviseOnEach() : undefined
    const outcomes: Outcome[] = []
    for (const [index, polygons] of group.entries()) {
      const found = Array.isArray(together)
        ? (together[index] as Advice | ApiError)
        : await adviseIn({ series, release }, polygons, isFirst && index === 0)
      outcomes.push(await explain(series, found))
      await pause()
    }
    return outcomes
  }

  return {
    /** In their order. @param sent loses each polygon with its task */
    *ofPolygons(sent: LocatedPolygon[]): Generator<Task> {
      while (sent.length > 0) {
        const group = sent.splice(0, countSmall(sent))
        const [{ source }] = group as [LocatedPolygon]
        yield async (isFirst) => {
          const outcomes = (await findOutcomes(source, group.flatMap(listValid), isFirst)).values()
          const items: PolygonItem[] = []
          for (const { id, name, outline } of group) {
            const isValid = !('error' in outline)
            const geometry = hasShapes && isValid ? await writeGeoJson(outline, pause) : null
            const outcome = isValid ? (outcomes.next().value as Outcome) : { advice: null, reason: outline }
            items.push({ id, name, members: source.members, geometry, ...outcome })
          }
          return items
        }
      }
    },
    /** In the order of their codes. @throws {ReplacedMeanwhile} for replaced boundaries */
    async *ofAreas(
      series: Series,
      release: PublishedRelease,
      db: Db,
      selection: LevelSelection,
    ): AsyncGenerator<Task> {
      const members = makeReleaseMembers(release)
      let last: AreaInRelease | undefined
      for (;;) {
        const { code = null, version } = last ?? {}
        // The queue may refuse a call whose answer has not begun.
        const waitForPermit = last ? work.goOnWithPermit : work.waitForPermit
        const page = { ...selection, after: code, limit: AREAS_A_PAGE }
        const areas = await waitForPermit(() => listAreasInRelease(db, page, release.id))
        if (version !== undefined && areas.some((area) => area.version !== version))
          throw new ReplacedMeanwhile()
        const shapes = hasShapes && areas.length > 0 ? await waitForPermit(() => findOutlines(db, areas)) : []
        for (const [index, area] of areas.entries()) {
          const item = { id: area.code, name: undefined, members, geometry: shapes[index] ?? null }
          yield async (isFirst) => {
            const outcome = await explain(series, await adviseIn({ series, release }, area, isFirst))
            return [{ ...item, ...outcome }]
          }
        }
        if (areas.length < AREAS_A_PAGE) return
        last = areas.at(-1)
      }
    },
  }
}

/** The tasks of polygons that are read page by page. */
export async function* listTasks(
  { ofPolygons }: ReturnType<typeof createTasks>,
  pages: AsyncIterable<LocatedPolygon[]>,
): AsyncGenerator<Task> {
  for await (const page of pages) yield* ofPolygons(page)
}

/** Computes items, in the slices of their tasks. After a database error within the answer, the last item has its reason. */
export async function* computeItems(
  { cutAtFault }: ManyCall,
  tasks: AsyncIterable<Task> | Iterable<Task>,
): AsyncGenerator<PolygonItem[]> {
  let isFirst = true
  try {
    for await (const items of inOrder(begin(tasks), AT_ONCE)) {
      yield items
      isFirst = false
    }
  } catch (error) {
    const fault = error instanceof ApiError ? error : databaseError(error)
    if (isFirst || cutAtFault || !fault) throw error
    const none = { id: undefined, name: undefined, members: {}, geometry: null, advice: null }
    yield [{ ...none, reason: fault.body }]
  }
}

async function* begin(
  tasks: AsyncIterable<Task> | Iterable<Task>,
): AsyncGenerator<() => Promise<PolygonItem[]>> {
  let isFirst = true
  for await (const task of tasks) {
    yield task.bind(null, isFirst)
    isFirst = false
  }
}
