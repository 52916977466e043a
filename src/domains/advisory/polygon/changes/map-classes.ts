import type { Change } from '#src/raster/change.ts'
import type { Rgba } from '#src/raster/palette-png.ts'
import { relativeChange } from './figures.ts'

/** How areas are told apart on the map of a comparison. */
interface MapClass {
  /** What the legend says of it. */
  label: string
  colour: Rgba
  /** Whether it is drawn as stripes on white. */
  striped: boolean
}

/** Where the classes of a change end, up and down, in percent. */
const STEPS = [2, 10, 25] as const

/** A part of a percentage that is nothing but rounding: what lies on a step belongs to the smaller change. */
const ROUNDING = 1e-9

/**
 * From the largest rise to the largest fall: BrBG of ColorBrewer (colorbrewer2.org, C. Brewer, 2002, Apache 2.0), from
 * blue-green to brown, which people who do not see red or green tell apart.
 */
const BLUE_TO_BROWN: readonly Rgba[] = [
  [1, 102, 94, 255],
  [90, 180, 172, 255],
  [199, 234, 229, 255],
  [245, 245, 245, 255],
  [246, 232, 195, 255],
  [216, 179, 101, 255],
  [140, 81, 10, 255],
]

const STRIPES: Rgba = [1, 102, 94, 255]
const DARK: Rgba = [64, 64, 64, 255]
const GREY: Rgba = [189, 189, 189, 255]

/** The classes, in the order of the legend: those of changes from the largest rise to the largest fall, then the others. */
export const MAP_CLASSES: readonly MapClass[] = [
  ...labelsOf(STEPS).map((label, at) => ({ label, colour: BLUE_TO_BROWN[at] as Rgba, striped: false })),
  { label: 'Gained as a whole', colour: STRIPES, striped: true },
  { label: 'Lost as a whole', colour: DARK, striped: false },
  { label: 'No values', colour: GREY, striped: false },
]

const UNCHANGED = STEPS.length
const GAINED = 2 * STEPS.length + 1
const LOST = GAINED + 1
const NO_VALUES = LOST + 1

/** The place in `MAP_CLASSES` of what becomes of a layer in an area. */
export function mapClassOf({ before, after }: Pick<Change, 'before' | 'after'>): number {
  if (before.area === 0) return after.area === 0 ? NO_VALUES : GAINED
  if (after.area === 0) return LOST
  const percent = 100 * (relativeChange({ before, after }) as number)
  const passed = STEPS.filter((step) => Math.abs(percent) > step * (1 + ROUNDING)).length
  return UNCHANGED - Math.sign(percent) * passed
}

/** What the legend says of changes, from the largest rise to the largest fall. */
function labelsOf(steps: readonly number[]): string[] {
  const least = steps[0] as number
  const most = steps.at(-1) as number
  const ranges = steps.slice(1).map((step, at) => [steps[at] as number, step] as const)
  return [
    `Above +${most} %`,
    ...ranges.map(([from, to]) => `+${from} to +${to} %`).reverse(),
    `-${least} to +${least} %`,
    ...ranges.map(([from, to]) => `-${to} to -${from} %`),
    `Below -${most} %`,
  ]
}
