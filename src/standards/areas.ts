import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import type { FoundArea, RegionStatistics, RegionValues } from '#src/advice/polygon/advisors.ts'
import type { Tables } from '#src/data/tables.ts'
import type { App } from '#src/http/app.ts'
import { overloaded } from '#src/http/plugins/overload.ts'
import { Cache } from '#src/lib/cache.ts'
import { type PublishedRelease, refuseIfReplaced } from '#src/lookup/releases.ts'
import type { Snapshot } from '#src/lookup/snapshot.ts'
import {
  type LevelArea,
  type LoadedLevel,
  listCodesMeeting,
  listLevelAreas,
  listLoadedLevels,
  listShapes,
  type Rectangle,
  type ShapeFormat,
} from './area-queries.ts'

const MIB = 2 ** 20

/** What an area takes in memory beside its texts, a shape beside its text, and a statistic. */
const AREA_BYTES = 400
const SHAPE_BYTES = 100
const STATISTIC_BYTES = 16

/** So many areas, and so many vertices of theirs, are read with one statement at most. */
const AREAS_A_PART = 100
const POSITIONS_A_PART = 100_000

/** Areas that are read together: from the first to the one after the last. */
interface Part {
  first: number
  end: number
}

/** The areas of a level of a country. */
export interface AreaLevel {
  loaded: LoadedLevel
  /** In the order of their codes. */
  areas: readonly LevelArea[]
  /** Their places in that order, by their codes. */
  placeOf: ReadonlyMap<string, number>
  /** All of them: always the same for the same areas, so that each is read once. */
  parts: readonly Part[]
}

/** How a request waits for a connection of the database. */
type RunQueued = <Result>(read: () => Promise<Result>) => Promise<Result>

/** A request, and how it waits. */
export interface RequestContext {
  request: FastifyRequest
  reply: FastifyReply
  inTurn: RunQueued
}

export type Areas = ReturnType<typeof createAreas>

/** The areas of countries, their shapes, and the statistics of releases in them: from memory where that has them. */
export function createAreas(app: App, figures: RegionStatistics) {
  const db = app.database.reader
  const levels = createLevels(db)
  return {
    loaded: levels.loaded,
    level: levels.level,
    /** The places of the areas that meet a rectangle, in order; of all of them without one. */
    async places(level: AreaLevel, rectangle: Rectangle | null, inTurn: RunQueued): Promise<number[]> {
      const all = [...level.areas.keys()]
      if (rectangle === null) return all
      const codes = new Set(await inTurn(() => listCodesMeeting(db, level.loaded, rectangle)))
      return all.filter((place) => codes.has(level.areas[place]?.code ?? ''))
    },
    shapes: createShapes(db, levels.forget),
    columnsOf: figures.columnsOf,
    statistics: createStatistics(figures, levels.forget),
  }
}

/** Forgets a level with other areas than those in memory. */
type Forget = (loaded: LoadedLevel) => Error

function createLevels(db: Kysely<Tables>) {
  const levels = new Cache<string, AreaLevel>('levels of areas', { maxSize: 16 * MIB, sizeOf: bytesOfLevel })
  let latest: { boundaries: string; loaded: readonly LoadedLevel[] } | undefined

  const forget: Forget = (loaded) => {
    latest = undefined
    levels.delete(keyOf(loaded))
    return overloaded()
  }

  async function read(loaded: LoadedLevel): Promise<AreaLevel> {
    const areas = await listLevelAreas(db, loaded)
    if (!areas) throw forget(loaded)
    const placeOf = new Map(areas.map(({ code }, place) => [code, place]))
    return { loaded, areas, placeOf, parts: [...partsOf(areas)] }
  }

  /** The loaded levels, country by country: the same array until boundaries change. */
  async function loaded(
    { boundaries }: Pick<Snapshot, 'boundaries'>,
    inTurn: RunQueued,
  ): Promise<readonly LoadedLevel[]> {
    // They may be others than the snapshot has: loaded meanwhile, or not arrived at a replica.
    if (latest?.boundaries !== boundaries) latest = await inTurn(() => listLoadedLevels(db))
    return latest.loaded
  }

  /** @throws {ApiError} OVERLOADED while the boundaries are being replaced */
  async function level(loaded: LoadedLevel, inTurn: RunQueued): Promise<AreaLevel> {
    const key = keyOf(loaded)
    return levels.get(key) ?? inTurn(() => levels.load(key, () => read(loaded)))
  }

  return { loaded, level, forget }
}

function createShapes(db: Kysely<Tables>, forget: Forget) {
  const shapes = new Cache<string, string[]>('shapes of areas', { maxSize: 24 * MIB, sizeOf: bytesOfShapes })

  async function read(level: AreaLevel, { first, end }: Part, format: ShapeFormat): Promise<string[]> {
    const areas = level.areas.slice(first, end)
    const ends = [areas[0]?.code ?? '', areas.at(-1)?.code ?? ''] as const
    const found = await listShapes(db, level.loaded, ends, format)
    const { version } = level.loaded
    const isOfLevel = found.every((area, at) => area.code === areas[at]?.code && area.version === version)
    if (found.length !== areas.length || !isOfLevel) throw forget(level.loaded)
    return found.map(({ shape }) => shape)
  }

  /** Each request waits for its own turn: that of another may take long to come. */
  async function load(
    level: AreaLevel,
    part: Part,
    format: ShapeFormat,
    inTurn: RunQueued,
  ): Promise<string[]> {
    const key = `${keyOf(level.loaded)} ${part.first} ${format.crs} ${format.tolerance}`
    return shapes.get(key) ?? inTurn(() => shapes.load(key, () => read(level, part, format)))
  }

  /**
   * The shapes of some areas of a level, one after the other as they are taken.
   *
   * @throws {ApiError} OVERLOADED while the boundaries are being replaced
   */
  return async function* (
    level: AreaLevel,
    places: Iterable<number>,
    format: ShapeFormat,
    inTurn: RunQueued,
  ): AsyncGenerator<string, void> {
    let part: Part | undefined
    let found: string[] = []
    for (const place of places) {
      if (!part || place >= part.end) {
        part = partAt(level, place)
        found = await load(level, part, format, inTurn)
      }
      yield found[place - part.first] as string
    }
  }
}

/** The statistics of a release in the areas of a level, by their places. */
interface StatisticsTable {
  columns: number
  rows: (RegionValues | undefined)[]
}

function createStatistics(figures: RegionStatistics, forget: Forget) {
  const tables = new Cache<string, StatisticsTable>('statistics of areas', {
    maxSize: 16 * MIB,
    sizeOf: ({ columns, rows }) => STATISTIC_BYTES * (1 + rows.length) * (1 + columns),
  })

  async function find(
    release: PublishedRelease,
    { loaded, areas }: AreaLevel,
    { first, end }: Part,
    inTurn: RunQueued,
  ): Promise<FoundArea[]> {
    const { countryCode, level, version } = loaded
    const after = areas[first - 1]?.code ?? null
    const found = await inTurn(() => figures.find(release, { countryCode, level, after, count: end - first }))
    const isOfLevel = found.every(
      (area, at) => area.code === areas[first + at]?.code && version.endsWith(area.version),
    )
    if (found.length !== end - first || !isOfLevel) throw forget(loaded)
    return found
  }

  /** The statistics in the areas of a level, by their places, as far as they are in memory. */
  function openTable(release: PublishedRelease, { loaded, areas }: AreaLevel): StatisticsTable['rows'] {
    const create = () => ({ columns: figures.columnsOf(release).length, rows: Array(areas.length) })
    return tables.getOrCreate(`${release.id} ${keyOf(loaded)}`, create).rows
  }

  /**
   * The statistics of a release in some areas, one after the other as they are taken. All but the first end early.
   *
   * @param until when computing ends, on the clock of `performance.now()`
   * @throws {ApiError} OVERLOADED while the release or the boundaries are being replaced
   */
  return async function* (
    release: PublishedRelease,
    level: AreaLevel,
    places: readonly number[],
    { request, reply, inTurn }: RequestContext,
    until: number,
  ): AsyncGenerator<RegionValues, void> {
    const table = openTable(release, level)
    let part: Part | undefined
    let found: FoundArea[] = []
    for (const [at, place] of places.entries()) {
      if (table[place] === undefined && (!part || place >= part.end)) {
        part = partAt(level, place)
        found = await find(release, level, part, inTurn)
        for (const [index, { stored }] of found.entries()) if (stored) table[part.first + index] = stored
      }
      if (table[place] === undefined) {
        if (at > 0 && performance.now() > until) return
        const area = found[place - (part as Part).first] as FoundArea
        table[place] = await refuseIfReplaced(() => area.compute(request, reply))
      }
      yield table[place]
    }
  }
}

function keyOf({ countryCode, level, version }: LoadedLevel): string {
  return `${countryCode} ${level} ${version}`
}

function partAt({ parts }: AreaLevel, place: number): Part {
  return parts.find(({ end }) => place < end) as Part
}

function bytesOfLevel({ areas }: AreaLevel): number {
  return areas.reduce((sum, { code, name }) => sum + AREA_BYTES + 2 * (code.length + name.length), AREA_BYTES)
}

function bytesOfShapes(shapes: readonly string[]): number {
  return shapes.reduce((sum, shape) => sum + SHAPE_BYTES + shape.length, SHAPE_BYTES)
}

function* partsOf(areas: readonly LevelArea[]): Generator<Part> {
  let first = 0
  let positions = 0
  for (const [at, area] of areas.entries()) {
    const isFull = at - first === AREAS_A_PART || positions + area.positions > POSITIONS_A_PART
    if (isFull && at > first) {
      yield { first, end: at }
      first = at
      positions = 0
    }
    positions += area.positions
  }
  if (first < areas.length) yield { first, end: areas.length }
}

/**
 * The finest simplification, in degrees: 55 m. Each of the others is twice as coarse as the one before it: few formats
 * are made.
 */
const FINEST = 0.0005
const TOLERANCES = Array.from({ length: 10 }, (_, step) => FINEST * 2 ** step)

/** Decimals of degrees of shapes as they were loaded: 0.1 m; and of metres. */
const FULL_DECIMALS = 6
const METRE_DECIMALS = 2

/** Decimals behind the first digit of a tolerance: rounding moves nothing so far that borders would cross. */
const FURTHER_DECIMALS = 2

/** The format of shapes for an allowed offset: the coarsest simplification within it. */
export function chooseShapeFormat(crs: ShapeFormat['crs'], offset: number): ShapeFormat {
  const tolerance = TOLERANCES.findLast((step) => step <= offset) ?? 0
  if (crs === 'mercator') return { crs, tolerance, decimals: METRE_DECIMALS }
  const decimals = tolerance === 0 ? FULL_DECIMALS : Math.ceil(-Math.log10(tolerance)) + FURTHER_DECIMALS
  return { crs, tolerance, decimals: Math.min(decimals, FULL_DECIMALS) }
}
