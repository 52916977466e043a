import type { Kysely } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { Tables } from '#src/database/tables.ts'
import { overloaded } from '#src/http/plugins/overload.ts'
import type { Crs, CrsKind } from '../crs.ts'
import type { AreaLevel, AreaLevels, Part } from './area-levels.ts'
import { listShapes, type ShapeForm } from './area-queries.ts'

/** Bytes of shapes that are kept in memory. */
const BYTES_KEPT = 32 * 2 ** 20

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
    maxSize: BYTES_KEPT,
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
