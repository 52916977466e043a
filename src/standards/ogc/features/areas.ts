import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { Figures, FoundArea, RegionFigures } from '#src/advice/polygon/region-figures.ts'
import type { Tables } from '#src/data/tables.ts'
import { overloaded } from '#src/http/plugins/overload.ts'
import { type PublishedRelease, retryIfReplaced } from '#src/lookup/releases.ts'
import type { Snapshot } from '#src/lookup/snapshot.ts'
import type { Crs, CrsKind } from '../answers.ts'
import {
  type AreaFacts,
  type LoadedLevel,
  listAreaFacts,
  listLoadedLevels,
  listShapes,
  type ShapeForm,
} from './queries.ts'

/** Levels with more areas are no collections: a map program could not hold them. */
const MOST_AREAS = 50_000

/** What areas may take in memory, without their shapes, and what one takes beside its texts. */
const LEVEL_BYTES = 16 * 2 ** 20
const AREA_OVERHEAD = 300

/** So many areas, and so many vertices of theirs, are read with one statement at most. */
const AREAS_A_PART = 100
const POSITIONS_A_PART = 100_000

/** Areas whose shapes are read together: from the first to the one after the last. */
interface Part {
  first: number
  end: number
}

/** The areas of a level of a country. */
export interface AreaLevel {
  loaded: LoadedLevel
  /** In the order of their codes. */
  areas: readonly AreaFacts[]
  /** Their places in that order, by their codes. */
  placeOf: ReadonlyMap<string, number>
  /** All of them: always the same for the same areas, so that what is read of each is kept once. */
  parts: readonly Part[]
}

/** Keeps in memory which areas there are. What it reads takes a place at the database. */
interface AreaLevels {
  /** From memory alone. */
  knownLoaded(snapshot: Pick<Snapshot, 'boundaries'>): readonly LoadedLevel[] | undefined
  /** The levels that are loaded, and have not too many areas. */
  loaded(snapshot: Pick<Snapshot, 'boundaries'>): Promise<readonly LoadedLevel[]>
  /** From memory alone. */
  known(loaded: LoadedLevel): AreaLevel | undefined
  /** @throws {ApiError} OVERLOADED while the boundaries are being replaced */
  level(loaded: LoadedLevel): Promise<AreaLevel>
  /** Forgets a level of which others have found that other areas are loaded. */
  forget(loaded: LoadedLevel): void
}

export function createAreaLevels(db: Kysely<Tables>): AreaLevels {
  const levels = new LRUCache<string, AreaLevel>({ maxSize: LEVEL_BYTES, sizeCalculation: sizeOf })
  let latest: { boundaries: string; loaded: readonly LoadedLevel[] } | undefined

  function knownLoaded({ boundaries }: Pick<Snapshot, 'boundaries'>): readonly LoadedLevel[] | undefined {
    return latest?.boundaries === boundaries ? latest.loaded : undefined
  }

  function forget(loaded: LoadedLevel): void {
    latest = undefined
    levels.delete(keyOf(loaded))
  }

  return {
    knownLoaded,
    forget,
    async loaded(snapshot) {
      const known = knownLoaded(snapshot)
      if (known) return known
      const found = await listLoadedLevels(db)
      const loaded = found.loaded.filter(({ areas }) => areas <= MOST_AREAS)
      // They may be others than the snapshot knows of: loaded meanwhile, or not arrived at a replica.
      latest = { boundaries: found.boundaries, loaded }
      return loaded
    },
    known: (loaded) => levels.get(keyOf(loaded)),
    async level(loaded) {
      const areas = await listAreaFacts(db, loaded)
      if (!areas) {
        forget(loaded)
        throw overloaded()
      }
      const placeOf = new Map(areas.map(({ code }, place) => [code, place]))
      const level = { loaded, areas, placeOf, parts: [...partsOf(areas)] }
      levels.set(keyOf(loaded), level)
      return level
    },
  }
}

function keyOf({ countryCode, level, version }: LoadedLevel): string {
  return `${countryCode} ${level} ${version}`
}

function sizeOf({ areas }: AreaLevel): number {
  return areas.reduce(
    (sum, { code, name }) => sum + AREA_OVERHEAD + 2 * (code.length + name.length),
    AREA_OVERHEAD,
  )
}

function* partsOf(areas: readonly AreaFacts[]): Generator<Part> {
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

/** Bytes of shapes that are kept in memory. */
const SHAPE_BYTES = 32 * 2 ** 20

/** What a shape takes in memory beside its text. */
const SHAPE_OVERHEAD = 100

/**
 * The finest simplification, in degrees: 55 m. What may be off by less is as it was loaded. Each of the others is twice
 * as coarse as the one before it: there are so few that each is made once, whatever is asked for.
 */
const FINEST = 0.0005
const TOLERANCES = Array.from({ length: 10 }, (_, step) => FINEST * 2 ** step)

/** Decimals of degrees of shapes as they were loaded: 0.1 m; and of metres. */
const FULL_DECIMALS = 6
const METRE_DECIMALS = 2

/** Decimals behind the first digit of a tolerance: rounding moves nothing so far that borders would cross. */
const FURTHER_DECIMALS = 2

/** How shapes are written for which an offset is allowed: the coarsest simplification that keeps to it. */
export function shapeFormOf({ kind }: Crs, offset: number): ShapeForm {
  const tolerance = TOLERANCES.findLast((step) => step <= offset) ?? 0
  const degreeDecimals =
    tolerance === 0 ? FULL_DECIMALS : Math.ceil(-Math.log10(tolerance)) + FURTHER_DECIMALS
  return { crs: kind, tolerance, decimals: decimalsIn(kind, degreeDecimals) }
}

function decimalsIn(kind: CrsKind, degreeDecimals: number): number {
  return kind === 'mercator' ? METRE_DECIMALS : Math.min(degreeDecimals, FULL_DECIMALS)
}

/** How a request waits for what takes a connection of the database. */
export type InTurn = <Result>(read: () => Promise<Result>) => Promise<Result>

/** Reads the shapes of areas, and keeps those that were asked for lately. */
export interface AreaShapes {
  /**
   * The shapes of some areas of a level, one after the other as they are taken.
   *
   * @param places of the areas, in order
   * @throws {ApiError} OVERLOADED while the boundaries are being replaced
   */
  of(level: AreaLevel, places: Iterable<number>, form: ShapeForm, inTurn: InTurn): AsyncGenerator<string>
}

export function createAreaShapes(db: Kysely<Tables>, { forget }: Pick<AreaLevels, 'forget'>): AreaShapes {
  const kept = new LRUCache<string, string[]>({
    maxSize: SHAPE_BYTES,
    sizeCalculation: (shapes) =>
      shapes.reduce((sum, shape) => sum + shape.length + SHAPE_OVERHEAD, SHAPE_OVERHEAD),
  })
  const underWay = new Map<string, Promise<string[]>>()

  async function read(level: AreaLevel, { first, end }: Part, form: ShapeForm): Promise<string[]> {
    const areas = level.areas.slice(first, end)
    const ends = [areas[0]?.code ?? '', areas.at(-1)?.code ?? ''] as const
    const found = await listShapes(db, level.loaded, ends, form)
    const isOfLevel = found.every(
      ({ code, version }, at) => code === areas[at]?.code && version === level.loaded.version,
    )
    if (found.length !== areas.length || !isOfLevel) {
      forget(level.loaded)
      throw overloaded()
    }
    return found.map(({ shape }) => shape)
  }

  /** For all who ask meanwhile at once. */
  function begin(key: string, reading: () => Promise<string[]>): Promise<string[]> {
    const begun = reading()
      .then((shapes) => {
        kept.set(key, shapes)
        return shapes
      })
      .finally(() => underWay.delete(key))
    underWay.set(key, begun)
    return begun
  }

  async function shapesOf(level: AreaLevel, part: Part, form: ShapeForm, inTurn: InTurn): Promise<string[]> {
    const { countryCode, level: depth, version } = level.loaded
    const key = [countryCode, depth, version, part.first, form.crs, form.tolerance].join(' ')
    // Nobody waits for the turn of another, who may have to wait for long.
    const now = async () => kept.get(key) ?? underWay.get(key) ?? begin(key, () => read(level, part, form))
    return kept.get(key) ?? inTurn(now)
  }

  return {
    async *of(level, places, form, inTurn) {
      let part: Part | undefined
      let shapes: string[] = []
      for (const place of places) {
        if (!part || place >= part.end) {
          part = level.parts.find(({ end }) => place < end) as Part
          shapes = await shapesOf(level, part, form, inTurn)
        }
        yield shapes[place - part.first] as string
      }
    },
  }
}

/** Figures that are kept in memory: each takes some bytes. */
const FIGURES_KEPT = 2_000_000

/** How long a page waits for what has to be computed; then it ends, and the next one goes on. */
const COMPUTING_MS = 5000

/** A request, and how it waits. */
export interface Asking {
  request: FastifyRequest
  reply: FastifyReply
  inTurn: InTurn
}

/** What releases come to in the areas of levels: computed once, whoever asks first. */
export interface AdviceTables {
  columnsOf(release: PublishedRelease): string[]
  /**
   * The figures of some areas, one after the other as they are taken. Ends early where they take long to compute.
   *
   * @param places of the areas, in order
   * @throws {ApiError} OVERLOADED where the release or the boundaries are being replaced
   */
  of(
    release: PublishedRelease,
    level: AreaLevel,
    places: readonly number[],
    asking: Asking,
  ): AsyncGenerator<Figures>
}

export function createAdviceTables(
  figures: RegionFigures,
  { forget }: Pick<AreaLevels, 'forget'>,
): AdviceTables {
  const tables = new LRUCache<string, (Figures | undefined)[]>({ maxSize: FIGURES_KEPT })

  /** The figures that are known of the areas of a level, by their places. */
  function tableOf(release: PublishedRelease, { loaded, areas }: AreaLevel): (Figures | undefined)[] {
    const key = [release.id, loaded.countryCode, loaded.level, loaded.version].join(' ')
    const known = tables.get(key)
    if (known) return known
    const table: (Figures | undefined)[] = []
    tables.set(key, table, { size: 1 + areas.length * (1 + figures.columnsOf(release).length) })
    return table
  }

  async function find(
    release: PublishedRelease,
    { loaded, areas }: AreaLevel,
    { first, end }: Part,
    inTurn: InTurn,
  ): Promise<FoundArea[]> {
    const { countryCode, level, version } = loaded
    const after = areas[first - 1]?.code ?? null
    const found = await inTurn(() => figures.find(release, { countryCode, level, after, count: end - first }))
    const isOfLevel = found.every(
      (area, at) => area.code === areas[first + at]?.code && version.endsWith(area.version),
    )
    if (found.length !== end - first || !isOfLevel) {
      forget(loaded)
      throw overloaded()
    }
    return found
  }

  return {
    columnsOf: figures.columnsOf,
    async *of(release, level, places, { request, reply, inTurn }) {
      const table = tableOf(release, level)
      const until = performance.now() + COMPUTING_MS
      let part: Part | undefined
      let found: FoundArea[] = []
      for (const [at, place] of places.entries()) {
        if (table[place] === undefined && (!part || place >= part.end)) {
          const wanted = level.parts.find(({ end }) => place < end) as Part
          found = await find(release, level, wanted, inTurn)
          for (const [index, { stored }] of found.entries()) if (stored) table[wanted.first + index] = stored
          part = wanted
        }
        if (table[place] === undefined) {
          if (at > 0 && performance.now() > until) return
          const area = found[place - (part as Part).first] as FoundArea
          table[place] = await retryIfReplaced(() => area.compute(request, reply))
        }
        yield table[place]
      }
    },
  }
}
