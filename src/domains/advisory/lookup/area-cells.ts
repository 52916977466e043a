import type { BoundedPolygon } from '#src/raster/containment.ts'
import type { Area } from './area-queries.ts'

/** What is known of a cell. */
export interface AreaCell {
  /** The areas that all of it lies in. */
  throughout: readonly Area[]
  /** The areas that a part of it lies in. */
  partly: { area: Area; polygons: BoundedPolygon[] }[]
  /** The country that all of it lies in, null for none; undefined where parts of it lie in others. */
  country: string | null | undefined
  /** About how much memory it takes. */
  bytes: number
}

/** Cells by their number, bounded in bytes, of the boundaries that are loaded. */
export interface AreaCells {
  /**
   * Undefined for a cell that is not known.
   *
   * @param boundaries which are loaded: what was recorded with others is forgotten
   */
  get(number: number, boundaries: string): AreaCell | undefined
  /** @param boundaries that the cell is of, as the database has said: it is not kept where others are known to be loaded */
  record(number: number, cell: AreaCell, boundaries: string): void
  state(): { cells: number; bytes: number }
}

/** Makes a store of so many bytes; then the oldest cells make room. */
export function createAreaCells(limit: number): AreaCells {
  const cells = new Map<number, AreaCell>()
  let bytes = 0
  /** Goes through the cells from the oldest on. Another one would pass all that are gone each time. */
  let oldest = cells.keys()
  /** Areas are in many cells, and the same few lists of them over and over. */
  const areas = new Map<number, Area>()
  const lists = new Map<string, readonly Area[]>()
  /** The boundaries that the cells are of, and those before: long calls may still be about these. */
  let current: string | undefined
  let replaced: string | undefined

  function beginAnew(boundaries: string): void {
    for (const kept of [cells, areas, lists]) kept.clear()
    bytes = 0
    oldest = cells.keys()
    replaced = current
    current = boundaries
  }

  /** Whether what is recorded is of these boundaries. That others have been replaced is known, whoever asks by them. */
  function isCurrent(boundaries: string): boolean {
    if (boundaries !== current && boundaries !== replaced) beginAnew(boundaries)
    return boundaries === current
  }

  function sharedArea(area: Area): Area {
    const known = areas.get(area.id)
    if (!known) areas.set(area.id, area)
    return known ?? area
  }

  function sharedList(list: readonly Area[]): readonly Area[] {
    const key = list.map(({ id }) => id).join()
    const known = lists.get(key)
    if (!known) lists.set(key, list.map(sharedArea))
    return known ?? list
  }

  return {
    get: (number, boundaries) => (isCurrent(boundaries) ? cells.get(number) : undefined),
    record(number, { throughout, partly, country, bytes: added }, boundaries) {
      // The database has them again: a backup has been restored.
      if (boundaries === replaced) beginAnew(boundaries)
      if (boundaries !== current || cells.has(number)) return
      const shared = partly.map(({ area, polygons }) => ({ area: sharedArea(area), polygons }))
      cells.set(number, { throughout: sharedList(throughout), partly: shared, country, bytes: added })
      bytes += added
      while (bytes > limit) {
        const first = oldest.next().value as number
        bytes -= (cells.get(first) as AreaCell).bytes
        cells.delete(first)
      }
    },
    state: () => ({ cells: cells.size, bytes }),
  }
}
