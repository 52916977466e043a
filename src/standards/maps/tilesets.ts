import type { Cut, Tileset } from '#schemas/map.ts'
import { round, roundDegrees } from '#src/lib/round.ts'
import { degreesOfPixel, HIGHEST_ZOOM, shownOf } from '#src/raster/maps.ts'
import { coloursOf, hexOf, type Legend } from './maps.ts'
import type { MapLayer, MapRelease } from './queries.ts'

/** A layer of a release as TileJSON 2.2.0, with its legend. */
export function tilesetOf(
  code: string,
  { source, licence }: MapRelease,
  layer: MapLayer,
  legend: { cut: Cut; found: Legend | undefined },
  root: string,
): Tileset {
  const { number, input, scenario, unit, decimals } = layer
  const query = legend.cut === 'quantiles' ? '' : `?cut=${legend.cut}`
  return {
    tilejson: '2.2.0',
    name: [code, input, scenario].filter((part) => part !== null).join(', '),
    scheme: 'xyz',
    tiles: [`${root}/releases/${encodeURIComponent(code)}/layers/${number}/tiles/{z}/{x}/{y}${query}`],
    minzoom: 0,
    maxzoom: highestZoomOf(layer),
    bounds: boundsOf(layer),
    attribution: escaped(`${source} (${licence})`),
    release: code,
    layer: number,
    input,
    scenario,
    unit,
    cut: legend.cut,
    classes: legend.found ? classesOf(legend.found, decimals) : [],
  }
}

function classesOf({ minimum, maximum, steps }: Legend, decimals: number) {
  const ends = [roundDown(minimum, decimals), ...steps, -roundDown(-maximum, decimals)]
  return coloursOf(steps.length + 1).map((colour, at) => ({
    from: ends[at] as number,
    to: ends[at + 1] as number,
    color: hexOf(colour),
  }))
}

/** The number of so many decimals that is not above a value: no class ends before it begins. */
function roundDown(value: number, decimals: number): number {
  const rounded = round(value, decimals)
  return rounded <= value ? rounded : round(rounded - 10 ** -decimals, decimals)
}

/** What of a layer is shown: west, south, east and north in decimal degrees. */
function boundsOf({ coverage }: MapLayer): number[] {
  const { west, south, east, north } = shownOf(coverage)
  return [west, south, east, north].map(roundDegrees)
}

/** The first zoom at which a pixel of the layer takes two or more of the map. */
function highestZoomOf({ coverage: { west, east, width } }: MapLayer): number {
  const degrees = (east - west) / width
  let zoom = 0
  while (zoom < HIGHEST_ZOOM && degreesOfPixel(zoom) > degrees / 2) zoom++
  return zoom
}

/** Text as it is to be read where it is taken for HTML, as TileJSON lets clients do with attributions. */
function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)
}
