import type { Kysely } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { Cut } from '#schemas/map.ts'
import type { Tables } from '#src/data/tables.ts'
import { overloaded } from '#src/http/plugins/overload.ts'
import type { Pause } from '#src/lib/turns.ts'
import { ReplacedMeanwhile } from '#src/lookup/releases.ts'
import { BLOCK_FACTOR } from '#src/raster/blocks.ts'
import {
  classOf,
  encodePalettePng,
  equalSteps,
  MAP_TILE_SIZE,
  type MapTile,
  type PalettePicture,
  quantileSteps,
  type Rgba,
  type ValueEnds,
} from '#src/raster/maps.ts'
import { findMapRelease, type MapLayer, type MapRelease, readMeans } from './queries.ts'
import { cellsOf, type MapSource, partsOf, valuesAt } from './values.ts'

const NOTHING: Rgba = [0, 0, 0, 0]

const OPAQUE = 255

/**
 * The colours of classes, from low values to high: viridis (N. Smith and S. van der Walt, 2015, public domain) at equal
 * distances. It rises in lightness, so that it is read in grey and by people who do not see red or green.
 */
const VIRIDIS: readonly [number, number, number][] = [
  [68, 1, 84],
  [68, 57, 131],
  [49, 104, 142],
  [33, 145, 140],
  [53, 183, 121],
  [144, 215, 67],
  [253, 231, 37],
]

/** The most classes that a map has. */
const MOST_CLASSES = VIRIDIS.length

/** A colour for each of some classes. */
export function coloursOf(classes: number): Rgba[] {
  return Array.from({ length: classes }, (_, at) => {
    const place = classes === 1 ? (MOST_CLASSES - 1) / 2 : (at * (MOST_CLASSES - 1)) / (classes - 1)
    return [...(VIRIDIS[Math.round(place)] as [number, number, number]), OPAQUE] as const
  })
}

/** The colours of pixels: the first stands for no value, the others for classes. */
function paletteOf(classes: number): Rgba[] {
  return [NOTHING, ...coloursOf(classes)]
}

/** A colour as pages write it. */
export function hexOf([red, green, blue]: Rgba): string {
  return `#${[red, green, blue].map((part) => part.toString(16).padStart(2, '0')).join('')}`
}

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
async function legendOf(
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

/** So many releases are kept in memory; each is some kilobytes. */
const RELEASES_KEPT = 500

/** So many legends: one an input and cut. Each is a hundred bytes. */
const LEGENDS_KEPT = 5000

/** Bytes of tiles that are kept in memory: a thousand or two of them. */
const TILE_BYTES_KEPT = 16_000_000

/** What a tile takes in memory beside its bytes. */
const TILE_OVERHEAD = 500

/** A layer of a release, and how its values are told apart. */
export interface MapSubject {
  releaseId: number
  release: MapRelease
  layer: MapLayer
  cut: Cut
}

/**
 * Draws maps of releases. What it reads takes a place at the database: what is in memory is asked for first.
 * All of it rejects with ReplacedMeanwhile where the release has been deleted.
 */
export interface Maps {
  /** From memory alone. */
  knownRelease(releaseId: number): MapRelease | undefined
  /** A tile from memory, or that somebody is just having drawn; otherwise, and where that fails, it is drawn now. */
  shared(subject: MapSubject, tile: MapTile, drawNow: () => Promise<Buffer>): Promise<Buffer>
  release(releaseId: number): Promise<MapRelease>
  legend(subject: MapSubject): Promise<Legend | undefined>
  /** A tile as PNG. */
  tile(subject: MapSubject, tile: MapTile): Promise<Buffer>
}

/** @param pause between the slices of what is drawn, for whomever */
export function createMaps(source: MapSource, pause: Pause): Maps {
  const { db } = source
  const releases = new LRUCache<number, MapRelease>({ max: RELEASES_KEPT })
  const legends = new LRUCache<string, { legend: Legend | undefined }>({ max: LEGENDS_KEPT })
  const tiles = new LRUCache<string, Buffer>({
    maxSize: TILE_BYTES_KEPT,
    sizeCalculation: ({ length }) => length + TILE_OVERHEAD,
  })

  /** Tiles that are being drawn: a map and its neighbours ask for the same. */
  const drawing = new Map<string, Promise<Buffer>>()
  /** Legends that are being made: many tiles of a layer are asked for at once. */
  const inTheMaking = new Map<string, Promise<Legend | undefined>>()

  async function legend(subject: MapSubject): Promise<Legend | undefined> {
    const { release, layer, cut } = subject
    const key = JSON.stringify([subject.releaseId, layer.input, layer.unit, cut])
    const known = legends.get(key)
    if (known) return known.legend
    const begun = inTheMaking.get(key)
    if (begun) return begun
    const making = legendOf(db, release.layers, layer, cut, pause).finally(() => inTheMaking.delete(key))
    inTheMaking.set(key, making)
    const found = await making
    legends.set(key, { legend: found })
    return found
  }

  async function release(releaseId: number): Promise<MapRelease> {
    const found = await findMapRelease(db, releaseId)
    if (!found) throw new ReplacedMeanwhile()
    releases.set(releaseId, found)
    return found
  }

  /** Where its tiles were moved to another store since it was found, they are read there. */
  async function pictureOf(subject: MapSubject, found: Legend, tile: MapTile) {
    try {
      return await drawn(source, subject.layer, found, tile, pause)
    } catch (error) {
      if (!(error instanceof ReplacedMeanwhile)) throw error
      const { layers } = await release(subject.releaseId)
      const layer = layers.find(({ number }) => number === subject.layer.number) as MapLayer
      return drawn(source, layer, found, tile, pause)
    }
  }

  return {
    knownRelease: (releaseId) => releases.get(releaseId),
    async shared(subject, tile, drawNow) {
      const key = keyOf(subject, tile)
      const known = tiles.get(key) ?? (await drawing.get(key)?.catch(() => undefined))
      if (known) return known
      const drawn = drawNow().finally(() => drawing.delete(key))
      drawing.set(key, drawn)
      return drawn
    },
    legend,
    release,
    async tile(subject, tile) {
      const found = await legend(subject)
      const picture = found ? await pictureOf(subject, found, tile) : emptyPicture()
      const png = await encodePalettePng(picture)
      tiles.set(keyOf(subject, tile), png)
      return png
    },
  }
}

function keyOf({ releaseId, layer, cut }: MapSubject, { zoom, column, row }: MapTile): string {
  return `${releaseId} ${layer.number} ${cut} ${zoom} ${column} ${row}`
}

async function drawn(
  source: MapSource,
  layer: MapLayer,
  { steps }: Legend,
  tile: MapTile,
  pause: Pause,
): Promise<PalettePicture> {
  const cells = await cellsOf(source.db, layer.coverage, tile, pause)
  if (!cells) return emptyPicture()
  const values = await valuesAt(source, layer, cells, pause)
  const indices = new Uint8Array(values.length)
  for (const part of partsOf(values.length)) {
    await pause()
    for (let at = part.from; at < part.to; at++) {
      const value = values[at] as number
      if (!Number.isNaN(value)) indices[at] = 1 + classOf(value, steps)
    }
  }
  return { width: MAP_TILE_SIZE, height: MAP_TILE_SIZE, palette: paletteOf(steps.length + 1), indices }
}

function emptyPicture(): PalettePicture {
  return {
    width: MAP_TILE_SIZE,
    height: MAP_TILE_SIZE,
    palette: paletteOf(0),
    indices: new Uint8Array(MAP_TILE_SIZE ** 2),
  }
}
