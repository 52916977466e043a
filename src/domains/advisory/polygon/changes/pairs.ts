import { sameGrid } from '#src/raster/grid.ts'
import type { ZonalBand, ZonalCoverage } from '../zonal-queries.ts'
import type { ComparedLayer } from './queries.ts'

/** A layer that one of two releases has, or both. */
export interface LayerPair extends ComparedLayer {
  /** Its place among the layers of each release, from 0; null where that has none of the kind. */
  before: number | null
  after: number | null
}

/** Pairs the layers of two releases by what they are of: those of the later one first, in its order. */
export function pairLayers(before: ComparedLayer[], after: ComparedLayer[]): LayerPair[] {
  const placeIn = (layers: ComparedLayer[], { input, scenario }: ComparedLayer) => {
    const place = layers.findIndex((layer) => layer.input === input && layer.scenario === scenario)
    return place < 0 ? null : place
  }
  return [
    ...after.map((layer, place) => ({ ...layer, before: placeIn(before, layer), after: place })),
    ...before
      .map((layer, place) => ({ ...layer, before: place, after: placeIn(after, layer) }))
      .filter((pair) => pair.after === null),
  ]
}

/** Two coverages on one grid, with the bands that are to be compared. */
export interface CoveragePair {
  before: ZonalCoverage
  after: ZonalCoverage
  bands: BandPair[]
}

interface BandPair {
  /** The place of its pair of layers, from 0. */
  pair: number
  before: ZonalBand
  after: ZonalBand
}

/** Finds which pairs of layers can be compared pixel by pixel: those on the same grid in the same tiles. */
export function pairCoverages(
  pairs: LayerPair[],
  before: ZonalCoverage[],
  after: ZonalCoverage[],
): CoveragePair[] {
  const found: CoveragePair[] = []
  for (const [pair, layers] of pairs.entries()) {
    const old = bandAt(before, layers.before)
    const now = bandAt(after, layers.after)
    if (!old || !now || !sameGrid(old.coverage, now.coverage)) continue
    if (old.coverage.tileSize !== now.coverage.tileSize) continue
    const band = { pair, before: old.band, after: now.band }
    const known = found.find((other) => other.before === old.coverage && other.after === now.coverage)
    if (known) known.bands.push(band)
    else found.push({ before: old.coverage, after: now.coverage, bands: [band] })
  }
  return found
}

function bandAt(
  coverages: ZonalCoverage[],
  place: number | null,
): { coverage: ZonalCoverage; band: ZonalBand } | undefined {
  for (const coverage of coverages) {
    const band = coverage.bands.find(({ index }) => index === place)
    if (band) return { coverage, band }
  }
  return undefined
}
