import { type Cut, type LayerName, MOST_LIKELY, type Tileset } from '#schemas/map.ts'
import { ApiError } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import type { Exchange } from '#src/http/exchange.ts'
import { escaped } from '#src/http/plain-page.ts'
import { Cache } from '#src/lib/cache.ts'
import { sharedWork } from '#src/lib/limiter.ts'
import { roundDegrees } from '#src/lib/round.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import type { Snapshot } from '#src/lookup/snapshot.ts'
import {
  clipToMercator,
  degreesOfPixel,
  encodePalettePng,
  HIGHEST_ZOOM,
  MAP_TILE_SIZE,
  type MapTile,
  type Rgba,
} from '#src/raster/maps.ts'
import { chooseLikeliest, type Legend, type MapSubject, makeLegend, nameComparison } from './legends.ts'
import {
  findSeasonOdds,
  type Layer,
  labelLayer,
  layersAddress,
  listLayers,
  selectPublished,
} from './published.ts'
import { findCells, type MapSource, partsOf, readValues } from './values.ts'

const NOTHING: Rgba = [0, 0, 0, 0]

/** Bounds of caches: legends, and tiles. */
const MOST_LEGENDS = 10_000
const TILES_BYTES = 16 * 2 ** 20

/** Bytes of a tile beside its picture. */
const TILE_BYTES = 500

/** Odds reach beyond the country: they are shown where their release has values. */
async function readMask(source: MapSource, { layers, layer }: MapSubject, tile: MapTile) {
  const isValued = ({ role, input }: Layer) =>
    role === undefined && (layer.input === null || input === layer.input)
  const valued = layer.role === 'probability' ? layers.find(isValued) : undefined
  if (!valued) return () => false
  const cells = await findCells(source, valued.coverage, tile)
  const values = cells && (await readValues(source, valued, cells))
  return (at: number) => values === undefined || Number.isNaN(values[at])
}

/** Draws a tile: a colour a class, nothing where there is no value. */
async function draw(
  source: MapSource,
  subject: MapSubject,
  { classes, colours, classify }: Legend,
  tile: MapTile,
): Promise<Buffer> {
  const { layer, seasons } = subject
  const indices = new Uint8Array(MAP_TILE_SIZE ** 2)
  const cells = classes.length > 0 ? await findCells(source, layer.coverage, tile) : undefined
  if (cells) {
    const bands: Float64Array[] = []
    for (const band of seasons ?? [layer]) bands.push(await readValues(source, band, cells))
    const [values] = bands as [Float64Array]
    const isMasked = await readMask(source, subject, tile)
    const valueAt = (at: number) => (seasons ? chooseLikeliest(bands, at) : (values[at] as number))
    for (const part of partsOf(values.length)) {
      await source.pause()
      for (let at = part.from; at < part.to; at++) {
        const value = valueAt(at)
        if (!Number.isNaN(value) && !isMasked(at)) indices[at] = 1 + classify(value)
      }
    }
  }
  const palette = [NOTHING, ...(cells ? colours : [])]
  return encodePalettePng({ width: MAP_TILE_SIZE, height: MAP_TILE_SIZE, palette, indices })
}

/** Which layer a request is about. */
export interface WantedLayer {
  release: string
  layer: LayerName
  cut?: Cut | undefined
}

/** @throws {ApiError} NOT_FOUND for a release that is not published, and a layer that it does not have */
function selectSubject(
  snapshot: Snapshot,
  { release: code, layer: name, cut = DEFAULT_CUT }: WantedLayer,
): MapSubject {
  const unknown = `No release ${code} is published; \`GET /catalog\` lists those that are.`
  const release = selectPublished(snapshot, code, unknown)
  const layers = listLayers(release)
  const seasons = name === MOST_LIKELY ? findSeasonOdds(layers) : undefined
  const layer = name === MOST_LIKELY ? seasons?.[0] : layers[name - 1]
  if (layer) return { release, layers, layer, seasons, cut }
  const count = layers.length === 1 ? '1 layer' : `${layers.length} layers`
  throw new ApiError('NOT_FOUND', `${code} has ${count}, and no layer ${name}.`)
}

/** The names of the maps of a release: the numbers of its layers, then that of the likeliest season. */
export function listMaps(layers: readonly Layer[]): LayerName[] {
  const numbers = layers.map(({ number }) => number)
  return findSeasonOdds(layers) ? [...numbers, MOST_LIKELY] : numbers
}

export type Maps = ReturnType<typeof createMaps>

/** Maps of releases, from memory where that has them. */
export function createMaps(app: Pick<App, 'database' | 'tiles' | 'slices'>, lookup: Lookup) {
  const legends = new Cache<string, Legend>('legends', { max: MOST_LEGENDS })
  const tiles = new Cache<string, Buffer>('tiles of maps', {
    maxSize: TILES_BYTES,
    sizeOf: ({ length }) => TILE_BYTES + length,
  })
  const pause = () => app.slices.next(sharedWork('maps'))
  const source: MapSource = { db: app.database.reader, stores: app.tiles, pause }

  /** Works on a layer; anew where its release is deleted, or its tiles are moved to another store meanwhile. */
  const inSubject = <Result>(wanted: WantedLayer, work: (subject: MapSubject) => Promise<Result>) =>
    lookup.inSnapshot(async (snapshot) => work(selectSubject(snapshot, wanted)))

  function loadLegend(subject: MapSubject): Promise<Legend> {
    const { release, layer, seasons, cut } = subject
    const key = JSON.stringify([release.id, nameComparison(layer), seasons !== undefined, cut])
    return legends.load(key, () => makeLegend(source, subject))
  }

  /** As TileJSON, with addresses below a root. */
  const describe = (wanted: WantedLayer, root: string): Promise<Tileset> =>
    inSubject(wanted, async (subject) => describeTileset(subject, await loadLegend(subject), root))

  /** A tile as PNG where it is in memory, and how it is drawn. */
  function findTile(wanted: WantedLayer, tile: MapTile): [Buffer | undefined, () => Promise<Buffer>] {
    const { release, layer, cut = DEFAULT_CUT } = wanted
    const key = [release, layer, cut, tile.zoom, tile.column, tile.row].join(' ')
    const drawTile = async (subject: MapSubject) => draw(source, subject, await loadLegend(subject), tile)
    return [tiles.get(key), () => tiles.load(key, () => inSubject(wanted, drawTile))]
  }

  return {
    inSubject,
    describe,
    /** A tile as PNG, without waiting in the queue of requests. */
    async draw(wanted: WantedLayer, tile: MapTile): Promise<Buffer> {
      const [stored, load] = findTile(wanted, tile)
      return stored ?? load()
    },
    /** @throws {ApiError} as {@link selectSubject} */
    async findSubject(exchange: Exchange, wanted: WantedLayer): Promise<MapSubject> {
      return selectSubject(await exchange.wait(lookup.current), wanted)
    },
    tileset: (exchange: Exchange, wanted: WantedLayer): Promise<Tileset> =>
      exchange.withDatabasePermit(() => describe(wanted, exchange.request.rootUrl)),
    /** A tile as PNG. */
    async tile(exchange: Exchange, wanted: WantedLayer, tile: MapTile): Promise<Buffer> {
      const [stored, load] = findTile(wanted, tile)
      return stored ?? exchange.withDatabasePermit(load)
    },
  }
}

/** The cut of requests that name none. */
const DEFAULT_CUT: Cut = 'quantiles'

/** Those of a map of several layers. */
const NO_LABELS = { input: null, scenario: null, condition: null, role: undefined }

/** A layer of a release as TileJSON 2.2.0, with its legend. */
function describeTileset(subject: MapSubject, { classes }: Legend, root: string): Tileset {
  const { release, layer, seasons, cut } = subject
  const { code, source, licence } = release
  const { unit, coverage } = layer
  const { input, scenario, condition, role } = seasons ? NO_LABELS : layer
  const name = seasons ? MOST_LIKELY : layer.number
  const label = seasons ? 'Most likely season' : labelLayer(layer)
  const [left, bottom, right, top] = coverage.extent
  const { west, south, east, north } = clipToMercator({ west: left, south: bottom, east: right, north: top })
  const query = cut === 'quantiles' ? '' : `?cut=${cut}`
  return {
    tilejson: '2.2.0',
    name: [code, label].filter((part) => part !== '').join(', '),
    scheme: 'xyz',
    tiles: [`${layersAddress(root, code)}/${name}/tiles/{z}/{x}/{y}${query}`],
    minzoom: 0,
    maxzoom: highestZoom(layer),
    bounds: [west, south, east, north].map(roundDegrees),
    // TileJSON lets clients take it for HTML.
    attribution: escaped(`${source} (${licence})`),
    release: code,
    layer: name,
    input,
    scenario,
    ...(condition !== null && { condition }),
    ...(role !== undefined && { role }),
    unit,
    cut,
    classes,
  }
}

/** The first zoom at which a pixel of the layer takes two or more of the map. */
function highestZoom({ coverage: { extent, width } }: Layer): number {
  const degrees = (extent[2] - extent[0]) / width
  let zoom = 0
  while (zoom < HIGHEST_ZOOM && degreesOfPixel(zoom) > degrees / 2) zoom++
  return zoom
}
