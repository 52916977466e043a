import type { Kysely } from 'kysely'
import type { Cut } from '#schemas/map.ts'
import type { Tables } from '#src/database/tables.ts'
import { overloaded } from '#src/http/plugins/overload.ts'
import type { Pause } from '#src/lib/turns.ts'
import { BLOCK_FACTOR } from '#src/raster/blocks.ts'
import { equalSteps, quantileSteps, type ValueEnds } from '#src/raster/value-classes.ts'
import { MOST_CLASSES } from './palette.ts'
import { type MapLayer, readMeans } from './queries.ts'

/** How the values of a layer are told apart: classes meet at the steps. */
export interface Legend extends ValueEnds {
  steps: number[]
}

/** So many blocks of the layers that are compared are read at most to find their quantiles: sorting them takes a millisecond. */
const MOST_BLOCKS = 4096

/** However many layers there are: of each so many at least, or a sixteenth of them where it has more. */
const FEWEST_BLOCKS = 64

/**
 * Cuts the values of a layer into classes, together with all layers that it is compared with: those of the same input
 * and unit, whose scenarios are looked at side by side. Quantiles are those of the means of blocks, weighted by area.
 *
 * @returns undefined where none of them has a value
 */
export async function legendOf(
  db: Kysely<Tables>,
  layers: readonly MapLayer[],
  { input, unit }: MapLayer,
  cut: Cut,
  pause: Pause,
): Promise<Legend | undefined> {
  const compared = layers.filter(
    (layer) => layer.input === input && layer.unit === unit && layer.minimum !== null,
  )
  if (compared.length === 0) return undefined
  const ends = {
    minimum: Math.min(...compared.map(({ minimum }) => minimum as number)),
    maximum: Math.max(...compared.map(({ maximum }) => maximum as number)),
  }
  if (ends.minimum === ends.maximum) return { ...ends, steps: [] }
  const steps =
    cut === 'equal'
      ? equalSteps(ends, MOST_CLASSES)
      : quantileSteps(await meansOf(db, compared, pause), ends, MOST_CLASSES)
  return { ...ends, steps }
}

async function meansOf(db: Kysely<Tables>, layers: readonly MapLayer[], pause: Pause) {
  const values: number[] = []
  const weights: number[] = []
  for (const layer of layers) {
    const { scale, offset } = layer
    const most = Math.max(FEWEST_BLOCKS, MOST_BLOCKS / layers.length)
    const means = await readAll(db, layer, most)
    await pause()
    for (const { mean, weight } of means) {
      values.push(mean * scale + offset)
      weights.push(weight)
    }
  }
  return { values: Float64Array.from(values), weights: Float64Array.from(weights) }
}

async function readAll(db: Kysely<Tables>, layer: MapLayer, most: number) {
  const { width, height, tileSize } = layer.coverage
  let [level, columns, rows] = [0, Math.ceil(width / tileSize), Math.ceil(height / tileSize)]
  while (columns * rows > most) {
    level++
    columns = Math.ceil(columns / BLOCK_FACTOR)
    rows = Math.ceil(rows / BLOCK_FACTOR)
  }
  const all = { level, firstRow: 0, lastRow: rows - 1, firstColumn: 0, lastColumn: columns - 1 }
  const means = await readMeans(db, layer, all)
  if (!means) throw overloaded()
  return means
}
