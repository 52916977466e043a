import type { PackGrid } from '#src/extensions/packs/pixels.ts'
import {
  findPackedPixel,
  type Pack,
  type PackedMap,
  type PackedRelease,
  readPackedPixel,
} from '#src/extensions/packs/reading.ts'
import { round } from '#src/lib/round.ts'
import { PROBABILITY_DECIMALS } from '#src/lookup/certainty.ts'
import { isMixture } from '#src/lookup/layers.ts'
import { findClass } from '#src/raster/classes.ts'
import type { Place } from '../../../api-types.ts'
import { swatchOf } from '../../../map/legend.ts'
import { element } from '../../../shell/element.ts'
import { labelMap } from './labels.ts'
import { texts } from './texts.ts'

/** What the map shows. */
export interface ShownMap {
  release: PackedRelease
  map: PackedMap
}

/** Samples across the picture of the pixels: old phones take a tenth of a second for them. */
const MOST_SAMPLES = 360

/** Pixels around the area. */
const PADDING = 8

/** The narrowest and the highest picture, of its width. */
const HIGHEST = 1.2
const LOWEST = 0.5

const RADIANS = Math.PI / 180

/** Of a meridian, on the sphere of the mean radius of the earth (Moritz, 2000, Journal of Geodesy 74: 6,371,008.8 m). */
const METRES_PER_DEGREE = 6_371_008.8 * RADIANS

/** A map of a pack on a canvas. */
export function packMap(pack: Pack, choose: (place: Place) => void) {
  const canvas = element('canvas', { className: 'pack-map', role: 'img', 'aria-label': texts.map })
  let shown: ShownMap | null = null
  let place: Place | null = null
  let view = viewOf(pack, 320)
  let picture: HTMLCanvasElement | null = null

  function draw() {
    const context = canvas.getContext('2d')
    const width = canvas.clientWidth
    if (!context || width === 0) return
    const ratio = Math.min(2, devicePixelRatio || 1)
    view = viewOf(pack, width)
    canvas.width = width * ratio
    canvas.height = view.height * ratio
    canvas.style.blockSize = `${view.height}px`
    context.setTransform(ratio, 0, 0, ratio, 0, 0)
    const style = getComputedStyle(canvas)
    const outline = pathOf(pack, view)
    context.save()
    context.clip(outline, 'evenodd')
    picture ??= shown && paint(pack, shown)
    if (picture) {
      const [left, top] = view.pixelOf(pack.area.bbox[0], pack.area.bbox[3])
      const [right, bottom] = view.pixelOf(pack.area.bbox[2], pack.area.bbox[1])
      context.imageSmoothingEnabled = false
      context.drawImage(picture, left, top, right - left, bottom - top)
    }
    context.restore()
    context.strokeStyle = style.color
    context.lineWidth = 1.5
    context.stroke(outline)
    labelMap(canvas, context, pack, view)
    if (!place) return
    const [x, y] = view.pixelOf(place.lng, place.lat)
    context.beginPath()
    context.arc(x, y, 7, 0, 2 * Math.PI)
    context.lineWidth = 5
    context.strokeStyle = '#fff'
    context.stroke()
    context.lineWidth = 3
    context.strokeStyle = '#b3005a'
    context.stroke()
  }

  canvas.addEventListener('click', ({ offsetX, offsetY }) => choose(view.placeOf(offsetX, offsetY)))
  addEventListener('resize', draw)
  return {
    canvas,
    draw,
    show(next: ShownMap | null) {
      shown = next
      picture = null
      draw()
    },
    mark(next: Place | null) {
      place = next
      draw()
    },
  }
}

/** Longitudes are as wide as at the middle latitude. */
function viewOf({ area: { bbox } }: Pack, width: number) {
  const [west, south, east, north] = bbox
  const narrowing = Math.cos(((south + north) / 2) * RADIANS)
  const [across, down] = [(east - west) * narrowing || 1e-6, north - south || 1e-6]
  const most = (width - 2 * PADDING) / across
  const height = Math.round(Math.min(Math.max(down * most + 2 * PADDING, width * LOWEST), width * HIGHEST))
  const scale = Math.min(most, (height - 2 * PADDING) / down)
  const left = (width - across * scale) / 2
  const top = (height - down * scale) / 2
  return {
    width,
    height,
    metresPerPixel: METRES_PER_DEGREE / scale,
    pixelOf: (lng: number, lat: number): [x: number, y: number] => [
      left + (lng - west) * narrowing * scale,
      top + (north - lat) * scale,
    ],
    placeOf: (x: number, y: number): Place => ({
      lng: round(west + (x - left) / narrowing / scale, 5),
      lat: round(north - (y - top) / scale, 5),
    }),
  }
}

function pathOf({ polygons }: Pack, view: ReturnType<typeof viewOf>) {
  const path = new Path2D()
  for (const { rings } of polygons) {
    for (const ring of rings) {
      for (let at = 0; at < ring.length; at += 2) {
        const [x, y] = view.pixelOf(ring[at] as number, ring[at + 1] as number)
        if (at === 0) path.moveTo(x, y)
        else path.lineTo(x, y)
      }
      path.closePath()
    }
  }
  return path
}

/** The pixels of a layer in the rectangle around the area, each in the colour of its class. */
function paint(pack: Pack, { release, map }: ShownMap): HTMLCanvasElement {
  const [west, south, east, north] = pack.area.bbox
  const narrowing = Math.cos(((south + north) / 2) * RADIANS)
  const ratio = (north - south) / ((east - west) * narrowing || 1e-6)
  const width = Math.max(1, Math.round(Math.min(MOST_SAMPLES, MOST_SAMPLES / ratio)))
  const height = Math.max(1, Math.round(Math.min(MOST_SAMPLES, width * ratio)))
  const picture = element('canvas', { width, height })
  const context = picture.getContext('2d') as CanvasRenderingContext2D
  const image = context.createImageData(width, height)
  const colourOf = createPainter(pack, { release, map })
  for (let y = 0; y < height; y++) {
    const latitude = north - ((y + 0.5) / height) * (north - south)
    for (let x = 0; x < width; x++) {
      const colour = colourOf({ longitude: west + ((x + 0.5) / width) * (east - west), latitude })
      if (colour) image.data.set(colour, (y * width + x) * 4)
    }
  }
  context.putImageData(image, 0, 0)
  return picture
}

/** The colour of a position: that of its class, as on the maps of the service. */
function createPainter(pack: Pack, { release, map }: ShownMap) {
  const { layers, companions } = release
  const companion = companions[map.band - layers.length]
  const shown = companion ?? layers[map.band]
  const grid = shown && pack.grids[release.grids[shown.coverage] as number]
  const bandAt = shown && grid ? createBandChooser(release, grid, shown) : () => undefined
  const colours = map.classes.map(({ color }) =>
    [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16)),
  )
  const steps = map.classes.slice(1).map(({ from }) => from)
  const classOf = (value: number) => {
    if (companion?.role === 'landscape') return map.classes.findIndex(({ from }) => from === round(value, 0))
    const known = companion?.role === 'probability' ? round(value, PROBABILITY_DECIMALS) : value
    return findClass(known, steps)
  }
  return (position: { longitude: number; latitude: number }): number[] | undefined => {
    const index = grid && findPackedPixel(grid, position)
    if (index === null || index === undefined) return undefined
    const value = readValue(grid as PackGrid, bandAt(index), index)
    const colour = Number.isFinite(value) ? colours[classOf(value)] : undefined
    return colour && [...colour, 255]
  }
}

type Banded = PackedRelease['layers'][number] | PackedRelease['companions'][number]

function readValue({ bands }: PackGrid, band: Banded | undefined, index: number): number {
  const stored = band && bands[band.band - 1]
  if (!stored) return Number.NaN
  const [pixel = Number.NaN] = readPackedPixel({ bands: [stored] }, index)
  return pixel * band.scale + band.offset
}

/** The band that has the value of a pixel: a pack has no mixtures, but the layers of the conditions that they are of. */
function createBandChooser({ layers, companions, conditions }: PackedRelease, grid: PackGrid, shown: Banded) {
  if (!conditions || 'role' in shown || !isMixture(layers, shown)) return () => shown
  const landscape = companions.find(({ role }) => role === 'landscape')
  const own = layers.filter(({ input, scenario }) => input === shown.input && scenario === shown.scenario)
  const byCondition = new Map<string | null | undefined, Banded>(own.map((one) => [one.condition, one]))
  return (index: number) => {
    const code = readValue(grid, landscape, index)
    return byCondition.get(conditions.codes?.[code] ?? conditions.default)
  }
}

/** The classes of a map with their colours. */
export function legendOf({ map }: ShownMap) {
  const text = ({ from, to, title }: PackedMap['classes'][number]) => title ?? `${from} – ${to}`
  const rows = map.classes.map((one) => element('li', {}, swatchOf(one.color), text(one)))
  return element('div', { className: 'legend' }, element('ol', { className: 'kinds' }, ...rows))
}
