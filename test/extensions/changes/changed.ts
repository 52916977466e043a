import { isBeyond } from '#src/raster/change.ts'
import { ellipsoidArea } from '#src/raster/rings.ts'
import { HEIGHT, smooth, type ValueAt, WIDTH } from '#test/ingest/checks/rasters.ts'

const NODATA = -1

/** Half as much again in the east but for noise, less in the north of it, and nothing in the far south. */
export const changed: ValueAt = (row, column) => {
  if (row >= 100) return NODATA
  return smooth(row, column) * (column < 75 ? 1 : row < 30 ? 0.8 : 1.5)
}

export const BORDERS: [code: string, west: number, east: number][] = [
  ['W', 33, 40.5],
  ['M', 40.5, 44.02],
  ['E', 44.02, 48],
]

/** What an area comes to, each pixel weighed by what of it lies in the area. */
export function expectedOf(west: number, east: number) {
  const sums = { total: 0, before: 0, after: 0, oldSum: 0, nowSum: 0, lost: 0, beyond: 0 }
  for (let row = 0; row < HEIGHT; row++) {
    const [north, south] = [15 - row / 10, 15 - (row + 1) / 10]
    const ring = Float64Array.of(0, south, 0.1, south, 0.1, north, 0, north, 0, south)
    const pixel = ellipsoidArea([[ring]])
    for (let column = 0; column < WIDTH; column++) {
      const left = 33 + column / 10
      const part = Math.max(0, Math.min(1, (Math.min(east, left + 0.1) - Math.max(west, left)) / 0.1))
      const [old, now] = [smooth(row, column), changed(row, column)].map(Math.fround) as [number, number]
      const area = part * pixel
      sums.total += area
      sums.before += area
      sums.oldSum += area * old
      if (now === NODATA) {
        sums.lost += area
        continue
      }
      sums.after += area
      sums.nowSum += area * now
      if (isBeyond(old, now, 0.25)) sums.beyond += area
    }
  }
  const { total, before, after, oldSum, nowSum, lost, beyond } = sums
  const [old, now] = [oldSum / before, nowSum / after]
  return {
    mean_before: old,
    mean_after: now,
    change_percent: (100 * (now - old)) / old,
    covered_after_percent: (100 * after) / total,
    lost_percent: (100 * lost) / total,
    changed_percent: (100 * beyond) / total,
  }
}
