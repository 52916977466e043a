import { Distribution, type DistributionRoom, type DistributionWanted } from '#src/raster/distribution.ts'
import type { DecodedTile, TileBand } from '#src/raster/raster-wkb.ts'
import { decodeSummary, type Summary } from '#src/raster/summary.ts'
import type { StoredSummary, ZonalCoverage } from './zonal-queries.ts'

/** Numbers that all distributions of a coverage may keep. */
const CELLS = 131_072
const VALUES = 524_288
const MOST_CELLS = 16_384
export const LEAST_CELLS = 1024
const MOST_VALUES = 65_536

/** Of the bands of a coverage; null where one has no value. */
export type Distributions = (Distribution | null)[]

/** Adds the pixels of a tile, each with its area inside. */
export function addTile(
  { bands, tileSize }: ZonalCoverage,
  distributions: Distributions,
  tile: DecodedTile,
  areas: Float64Array,
): void {
  bands.forEach(({ band, scale, offset }, index) => {
    const distribution = distributions[index]
    if (!distribution) return
    const { pixels, nodata } = tile.bands[band - 1] as TileBand
    for (let row = 0; row < tile.height; row++) {
      for (let column = 0; column < tile.width; column++) {
        const area = areas[row * tileSize + column] as number
        const pixel = pixels[row * tile.width + column] as number
        if (area > 0 && pixel !== nodata) distribution.add(pixel * scale + offset, area)
      }
    }
  })
}

/** Adds what is stored of a block. */
export function addBlock({ bands }: ZonalCoverage, distributions: Distributions, block: StoredSummary): void {
  bands.forEach(({ band, scale, offset }, index) => {
    const { weight, mean, squares, minimum, maximum } = decodeSummary(block.bands, band)
    if (weight === 0) return
    const ends = [minimum * scale + offset, maximum * scale + offset] as const
    distributions[index]?.addRange({
      minimum: Math.min(...ends),
      maximum: Math.max(...ends),
      mean: mean * scale + offset,
      deviation: Math.sqrt(squares / weight) * Math.abs(scale),
      weight,
    })
  })
}

/** The distribution of a band of which the ends are known. */
export function emptyDistribution(
  { bands }: ZonalCoverage,
  { minimum, maximum }: Summary,
  index: number,
  wanted: DistributionWanted,
  room: DistributionRoom = roomFor(bands.length),
): Distribution {
  const { scale, offset } = bands[index] as ZonalCoverage['bands'][number]
  const ends = [minimum * scale + offset, maximum * scale + offset] as const
  return new Distribution(Math.min(...ends), Math.max(...ends), wanted, room)
}

/** What each of so many distributions may keep. */
function roomFor(bands: number): DistributionRoom {
  return {
    cells: Math.max(LEAST_CELLS, Math.min(MOST_CELLS, Math.floor(CELLS / bands))),
    values: Math.min(MOST_VALUES, Math.floor(VALUES / bands)),
  }
}
