import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Cut, Tileset } from '#schemas/map.ts'
import { ApiError } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { escaped } from '#src/http/plain-page.ts'
import { withTimeout } from '#src/http/plugins/time-budget.ts'
import { Cache } from '#src/lib/cache.ts'
import { sharedWork } from '#src/lib/limiter.ts'
import { round, roundDegrees } from '#src/lib/round.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import type { PublishedRelease } from '#src/lookup/releases.ts'
import type { Snapshot } from '#src/lookup/snapshot.ts'
import { BLOCK_FACTOR } from '#src/raster/blocks.ts'
import {
  clipToMercator,
  degreesOfPixel,
  encodePalettePng,
  equalSteps,
  findClass,
  HIGHEST_ZOOM,
  MAP_TILE_SIZE,
  type MapTile,
  quantileSteps,
  type Rgba,
  type ValueEnds,
} from '#src/raster/maps.ts'
import { type Layer, layersAddress, listLayers, selectPublished } from '../published.ts'
import { readMeans } from './queries.ts'
import { findCells, type MapSource, partsOf, readValues } from './values.ts'

/** Viridis (N. Smith and S. van der Walt, 2015, public domain): it rises in lightness, also for the colour-blind. */
const VIRIDIS: readonly [number, number, number][] = [
  [68, 1, 84],
  [68, 57, 131],
  [49, 104, 142],
  [33, 145, 140],
  [53, 183, 121],
  [144, 215, 67],
  [253, 231, 37],
]

const MOST_CLASSES = VIRIDIS.length

const NOTHING: Rgba = [0, 0, 0, 0]
const OPAQUE = 255

function chooseColours(classes: number): Rgba[] {
  return Array.from({ length: classes }, (_, at) => {
    const place = classes === 1 ? (MOST_CLASSES - 1) / 2 : (at * (MOST_CLASSES - 1)) / (classes - 1)
    return [...(VIRIDIS[Math.round(place)] as [number, number, number]), OPAQUE] as const
  })
}

/** The classes of a layer's values, which meet at the steps; `ends` are null where no compared layer has a value. */
interface Legend {
  ends: ValueEnds | null
  steps: number[]
}

/** A layer of a release, and how its values are cut into classes. */
export interface MapSubject {
  release: PublishedRelease
  /** All layers of the release. */
  layers: readonly Layer[]
  layer: Layer
  cut: Cut
}

/** So many blocks of the compared layers are read at most to find their quantiles: sorting them takes a millisecond. */
const MOST_BLOCKS = 4096

/** However many layers there are: of each so many at least, or a sixteenth of them where it has more. */
const FEWEST_BLOCKS = 64

/** Bounds of what is in memory: legends, and tiles. */
const MOST_LEGENDS = 10_000
const TILES_BYTES = 16 * 2 ** 20

/** Bytes of a tile beside its picture. */
const TILE_BYTES = 500

/** The levels of blocks that cover a layer with so few of them. */
function coarsestLevel({ coverage: { width, height, tileSize } }: Layer, most: number) {
  let [level, columns, rows] = [0, Math.ceil(width / tileSize), Math.ceil(height / tileSize)]
  while (columns * rows > most) {
    level++
    columns = Math.ceil(columns / BLOCK_FACTOR)
    rows = Math.ceil(rows / BLOCK_FACTOR)
  }
  return { level, firstRow: 0, lastRow: rows - 1, firstColumn: 0, lastColumn: columns - 1 }
}

async function readBlocks({ db, pause }: MapSource, layers: readonly Layer[]) {
  const values: number[] = []
  const weights: number[] = []
  for (const layer of layers) {
    const most = Math.max(FEWEST_BLOCKS, MOST_BLOCKS / layers.length)
    const means = await readMeans(db, layer, coarsestLevel(layer, most))
    await pause()
    for (const { mean, weight } of means) {
      values.push(mean * layer.scale + layer.offset)
      weights.push(weight)
    }
  }
  return { values: Float64Array.from(values), weights: Float64Array.from(weights) }
}

/** Cuts the values of a layer into classes, together with layers of the same input and unit, whose scenarios compare. */
async function makeLegend(source: MapSource, { layers, layer, cut }: MapSubject): Promise<Legend> {
  const compared = layers.filter(
    ({ input, unit, minimum }) => input === layer.input && unit === layer.unit && minimum !== null,
  )
  if (compared.length === 0) return { ends: null, steps: [] }
  const ends = {
    minimum: Math.min(...compared.map(({ minimum }) => minimum as number)),
    maximum: Math.max(...compared.map(({ maximum }) => maximum as number)),
  }
  if (ends.minimum === ends.maximum) return { ends, steps: [] }
  if (cut === 'equal') return { ends, steps: equalSteps(ends, MOST_CLASSES) }
  return { ends, steps: quantileSteps(await readBlocks(source, compared), ends, MOST_CLASSES) }
}

/** Draws a tile: a colour a class, nothing where there is no value. */
async function draw(
  source: MapSource,
  layer: Layer,
  { ends, steps }: Legend,
  tile: MapTile,
): Promise<Buffer> {
  const indices = new Uint8Array(MAP_TILE_SIZE ** 2)
  const cells = ends && (await findCells(source, layer.coverage, tile))
  if (cells) {
    const values = await readValues(source, layer, cells)
    for (const part of partsOf(values.length)) {
      await source.pause()
      for (let at = part.from; at < part.to; at++) {
        const value = values[at] as number
        if (!Number.isNaN(value)) indices[at] = 1 + findClass(value, steps)
      }
    }
  }
  const palette = [NOTHING, ...chooseColours(cells ? steps.length + 1 : 0)]
  return encodePalettePng({ width: MAP_TILE_SIZE, height: MAP_TILE_SIZE, palette, indices })
}

/** Which layer a request is about. */
interface WantedLayer {
  release: string
  layer: number
  cut?: Cut | undefined
}

/** @throws {ApiError} NOT_FOUND for a release that is not published, and a layer that it does not have */
function selectSubject(
  snapshot: Snapshot,
  { release: code, layer: number, cut = DEFAULT_CUT }: WantedLayer,
): MapSubject {
  const release = selectPublished(snapshot, code, notPublished(code))
  const layers = listLayers(release)
  const layer = layers[number - 1]
  if (layer) return { release, layers, layer, cut }
  const count = layers.length === 1 ? '1 layer' : `${layers.length} layers`
  throw new ApiError('NOT_FOUND', `${code} has ${count}, and no layer ${number}.`)
}

export type Maps = ReturnType<typeof createMaps>

/** Maps of releases, from memory where that has them. */
export function createMaps(app: App, lookup: Lookup) {
  const legends = new Cache<string, Legend>('legends', { max: MOST_LEGENDS })
  const tiles = new Cache<string, Buffer>('tiles of maps', {
    maxSize: TILES_BYTES,
    sizeOf: ({ length }) => TILE_BYTES + length,
  })
  const pause = () => app.turns.next(sharedWork('maps'))
  const source: MapSource = { db: app.database.reader, stores: app.tiles, pause }

  /** Works on a layer; anew where its release is deleted, or its tiles are moved to another store meanwhile. */
  const inSubject = <Result>(wanted: WantedLayer, work: (subject: MapSubject) => Promise<Result>) =>
    lookup.inSnapshot(async (snapshot) => work(selectSubject(snapshot, wanted)))

  function loadLegend(subject: MapSubject): Promise<Legend> {
    const { release, layer, cut } = subject
    const key = JSON.stringify([release.id, layer.input, layer.unit, cut])
    return legends.load(key, () => makeLegend(source, subject))
  }

  return {
    inSubject,
    /** @throws {ApiError} as {@link selectSubject} */
    async findSubject(
      request: FastifyRequest,
      reply: FastifyReply,
      wanted: WantedLayer,
    ): Promise<MapSubject> {
      return selectSubject(await withTimeout(request, reply, lookup.current), wanted)
    },
    async tileset(request: FastifyRequest, reply: FastifyReply, wanted: WantedLayer): Promise<Tileset> {
      const describe = async (subject: MapSubject) =>
        describeTileset(subject, await loadLegend(subject), request.rootUrl)
      return app.inTurn(request, reply, () => inSubject(wanted, describe))
    },
    /** A tile as PNG. */
    async tile(
      request: FastifyRequest,
      reply: FastifyReply,
      wanted: WantedLayer,
      tile: MapTile,
    ): Promise<Buffer> {
      const { release, layer, cut = DEFAULT_CUT } = wanted
      const key = [release, layer, cut, tile.zoom, tile.column, tile.row].join(' ')
      const drawTile = async (subject: MapSubject) =>
        draw(source, subject.layer, await loadLegend(subject), tile)
      const load = () => tiles.load(key, () => inSubject(wanted, drawTile))
      return tiles.get(key) ?? app.inTurn(request, reply, load)
    },
  }
}

/** The cut of requests that name none. */
const DEFAULT_CUT: Cut = 'quantiles'

function notPublished(code: string): string {
  return `No release ${code} is published; \`GET /catalog\` lists those that are.`
}

/** A layer of a release as TileJSON 2.2.0, with its legend. */
function describeTileset({ release, layer, cut }: MapSubject, legend: Legend, root: string): Tileset {
  const { code, source, licence } = release
  const { number, input, scenario, unit, coverage } = layer
  const [left, bottom, right, top] = coverage.extent
  const { west, south, east, north } = clipToMercator({ west: left, south: bottom, east: right, north: top })
  const query = cut === 'quantiles' ? '' : `?cut=${cut}`
  return {
    tilejson: '2.2.0',
    name: [code, input, scenario].filter((part) => part !== null).join(', '),
    scheme: 'xyz',
    tiles: [`${layersAddress(root, code)}/${number}/tiles/{z}/{x}/{y}${query}`],
    minzoom: 0,
    maxzoom: highestZoom(layer),
    bounds: [west, south, east, north].map(roundDegrees),
    // TileJSON lets clients take it for HTML.
    attribution: escaped(`${source} (${licence})`),
    release: code,
    layer: number,
    input,
    scenario,
    unit,
    cut,
    classes: describeClasses(legend, layer.decimals),
  }
}

function describeClasses({ ends, steps }: Legend, decimals: number): Tileset['classes'] {
  if (ends === null) return []
  const all = [roundDown(ends.minimum, decimals), ...steps, -roundDown(-ends.maximum, decimals)]
  return chooseColours(steps.length + 1).map(([red, green, blue], at) => ({
    from: all[at] as number,
    to: all[at + 1] as number,
    color: `#${[red, green, blue].map((part) => part.toString(16).padStart(2, '0')).join('')}`,
  }))
}

/** The number of so many decimals that is not above a value: no class ends before it begins. */
function roundDown(value: number, decimals: number): number {
  const rounded = round(value, decimals)
  return rounded <= value ? rounded : round(rounded - 10 ** -decimals, decimals)
}

/** The first zoom at which a pixel of the layer takes two or more of the map. */
function highestZoom({ coverage: { extent, width } }: Layer): number {
  const degrees = (extent[2] - extent[0]) / width
  let zoom = 0
  while (zoom < HIGHEST_ZOOM && degreesOfPixel(zoom) > degrees / 2) zoom++
  return zoom
}
