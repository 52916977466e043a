import { Distribution, type DistributionRoom, type DistributionWanted } from '#src/raster/distribution.ts'
import type { Summary } from '#src/raster/summary.ts'
import type { BandPixels, WeighedPixels } from '#src/raster/weighed-pixels.ts'
import type { StoredSummary, ZonalBand, ZonalCoverage } from './zonal-queries.ts'

/** Numbers that the pixels of a polygon may take while they are kept: 16 MB, where a pixel takes four bytes. */
const MOST_KEPT = 4_194_304

/** Numbers of an area that counts, beside the pixels that it is for. */
const NUMBERS_OF_AREA = 2

/** Cells of all distributions of a coverage, and of each. */
const CELLS = 131_072
const MOST_CELLS = 16_384
const LEAST_CELLS = 1024
const KEPT_CELLS = 4096

/** Whether so many pixels may be kept until they have been gone through twice, so that all is exact. */
export function isKeepable(pixels: number, bands: number): boolean {
  return pixels * (bands + NUMBERS_OF_AREA) <= MOST_KEPT
}

/** What distributions are made with: where values are kept, their cells only narrow down where to look. */
export function roomFor({ bands }: ZonalCoverage, keepsValues: boolean): DistributionRoom {
  if (keepsValues) return ROUGH_AND_KEPT
  return { cells: Math.max(LEAST_CELLS, Math.min(MOST_CELLS, Math.floor(CELLS / bands.length))), keepsValues }
}

const ROUGH_AND_KEPT: DistributionRoom = { cells: KEPT_CELLS, keepsValues: true }

/** For a first look. */
export const ROUGH: DistributionRoom = { cells: LEAST_CELLS, keepsValues: false }

/** How the values of a coverage's bands are distributed. */
export class BandDistributions {
  /** In the order of the bands; null where one has no value. */
  readonly all: (Distribution | null)[]
  readonly #bands: ZonalBand[]

  /** @param summaries of the bands: where their values end */
  constructor(
    { bands }: ZonalCoverage,
    summaries: Summary[],
    wanted: DistributionWanted,
    room: DistributionRoom,
  ) {
    this.#bands = bands
    this.all = bands.map((band, index) => {
      const summary = summaries[index] as Summary
      return summary.weight === 0 ? null : new Distribution(endsOf(summary, band), wanted, room)
    })
  }

  /** Adds pixels, whose arrays must not change any more. */
  addPixels({ count, areas, bands }: WeighedPixels): void {
    this.#bands.forEach(({ band, scale, offset }, index) => {
      const { pixels, nodata } = bands[band - 1] as BandPixels
      this.all[index]?.addPixels({ count, areas, pixels, nodata, scale, offset })
    })
  }

  /** Adds what is stored of a block. */
  addBlock(block: StoredSummary): void {
    this.#bands.forEach((band, index) => {
      const summary = block.summary(band.band)
      const { weight, mean, squares } = summary
      if (weight === 0) return
      this.all[index]?.addRange({
        ...endsOf(summary, band),
        mean: mean * band.scale + band.offset,
        deviation: Math.sqrt(squares / weight) * Math.abs(band.scale),
        weight,
      })
    })
  }
}

/** The smallest and the largest value of pixels. */
export function endsOf({ minimum, maximum }: Summary, { scale, offset }: ZonalBand) {
  const ends = [minimum * scale + offset, maximum * scale + offset] as const
  return { minimum: Math.min(...ends), maximum: Math.max(...ends) }
}
