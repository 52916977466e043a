import { LRUCache } from 'lru-cache'
import type { Cut } from '#schemas/map.ts'
import type { Pause } from '#src/lib/turns.ts'
import { encodePalettePng, type PalettePicture } from '#src/raster/palette-png.ts'
import { classOf } from '#src/raster/value-classes.ts'
import { MAP_TILE_SIZE, type MapTile } from '#src/raster/web-mercator.ts'
import { ReplacedMeanwhile } from '../lookup/replaced.ts'
import { cellsOf, partsOf } from './cells.ts'
import { type Legend, legendOf } from './legends.ts'
import { paletteOf } from './palette.ts'
import { findMapRelease, type MapLayer, type MapRelease } from './queries.ts'
import { type MapSource, valuesAt } from './values.ts'

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
