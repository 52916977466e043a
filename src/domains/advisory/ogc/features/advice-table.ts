import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { overloaded } from '#src/http/plugins/overload.ts'
import type { PublishedRelease } from '../../lookup/published-release.ts'
import type { Figures, FoundArea, RegionFigures } from '../../lookup/region-figures.ts'
import { whileThere } from '../../lookup/while-there.ts'
import type { AreaLevel, AreaLevels, Part } from './area-levels.ts'
import type { InTurn } from './area-shapes.ts'

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
          table[place] = await whileThere(() => area.compute(request, reply))
        }
        yield table[place]
      }
    },
  }
}
