import type { Cut, Tileset } from '#schemas/map.ts'
import { round } from '#src/lib/round.ts'
import { PROBABILITY_DECIMALS } from '#src/lookup/certainty.ts'
import type { PublishedRelease } from '#src/lookup/releases.ts'
import { BLOCK_FACTOR } from '#src/raster/blocks.ts'
import { equalSteps, findClass, quantileSteps, type ValueEnds } from '#src/raster/classes.ts'
import type { Rgba } from '#src/raster/maps.ts'
import { type Layer, listCodes } from './published.ts'
import { readMeans } from './queries.ts'
import type { MapSource } from './values.ts'

/** What a map shows, and how its values are cut into classes. */
export interface MapSubject {
  release: PublishedRelease
  /** All layers of the release. */
  layers: readonly Layer[]
  /** Of the map of the likeliest season, the first of its odds. */
  layer: Layer
  /** The odds of the three seasons, of which a map shows the likeliest; undefined for a map of one layer. */
  seasons: readonly Layer[] | undefined
  cut: Cut
}

/** The classes of a map: their meanings and colours, and the class of a value. */
export interface Legend {
  classes: Tileset['classes']
  colours: Rgba[]
  /** Index of the class of a value that is a number; -1 for none. */
  classify(value: number): number
}

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

const OPAQUE = 255

/** Colours at equal distances on the scale; of more classes than it has colours, some lie between two of them. */
function chooseColours(classes: number): Rgba[] {
  return Array.from({ length: classes }, (_, at) => {
    const point = classes === 1 ? (MOST_CLASSES - 1) / 2 : (at * (MOST_CLASSES - 1)) / (classes - 1)
    const [below, above] =
      classes > MOST_CLASSES ? [Math.floor(point), Math.ceil(point)] : [Math.round(point), Math.round(point)]
    const [lower, upper] = [VIRIDIS[below], VIRIDIS[above]] as [Colour, Colour]
    const mix = (part: 0 | 1 | 2) => Math.round(lower[part] + (upper[part] - lower[part]) * (point - below))
    return [mix(0), mix(1), mix(2), OPAQUE] as const
  })
}

type Colour = readonly [red: number, green: number, blue: number]

/** So many blocks of the compared layers are read at most to find their quantiles: sorting them takes a millisecond. */
const MOST_BLOCKS = 4096

/** However many layers there are: of each so many at least, or a sixteenth of them where it has more. */
const FEWEST_BLOCKS = 64

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

/**
 * What layers must have in common for their values to compare: ends of ranges compare with values, spreads do not, and odds
 * have the classes of their own season.
 */
export function nameComparison({ input, condition, unit, role, scenario }: Layer): string {
  const isSpread = role !== undefined && role !== 'low' && role !== 'high'
  const own = role === 'probability' ? [scenario] : []
  return JSON.stringify([input, condition, unit, ...(isSpread ? [role] : []), ...own])
}

/**
 * Makes the legend of a layer. Codes have a class each, and odds classes of tenths or twentieths. Other values are cut into
 * classes together with the layers of the same input, condition and unit, whose scenarios compare.
 */
export async function makeLegend(
  source: MapSource,
  { release: { conditions }, layers, layer, seasons, cut }: MapSubject,
): Promise<Legend> {
  if (seasons) return SEASON_LEGEND
  if (layer.role === 'landscape') return makeCodeLegend(conditions)
  const comparison = nameComparison(layer)
  const compared = layers.filter((one) => one.minimum !== null && nameComparison(one) === comparison)
  if (compared.length === 0) return { classes: [], colours: [], classify: () => -1 }
  const ends: ValueEnds = {
    minimum: Math.min(...compared.map(({ minimum }) => minimum as number)),
    maximum: Math.max(...compared.map(({ maximum }) => maximum as number)),
  }
  if (layer.role === 'probability') return makeOddsLegend(ends)
  return cutIntoClasses(ends, await chooseSteps(source, compared, ends, cut), layer.decimals)
}

async function chooseSteps(source: MapSource, compared: readonly Layer[], ends: ValueEnds, cut: Cut) {
  if (ends.minimum === ends.maximum) return []
  if (cut === 'equal') return equalSteps(ends, MOST_CLASSES)
  return quantileSteps(await readBlocks(source, compared), ends, MOST_CLASSES)
}

/** Classes between the ends, which meet at the steps. */
function cutIntoClasses(ends: ValueEnds, steps: readonly number[], decimals: number): Legend {
  const all = [roundDown(ends.minimum, decimals), ...steps, -roundDown(-ends.maximum, decimals)]
  const colours = chooseColours(steps.length + 1)
  return {
    classes: colours.map((colour, at) => ({
      from: all[at] as number,
      to: all[at + 1] as number,
      color: nameColour(colour),
    })),
    colours,
    classify: (value) => findClass(value, steps),
  }
}

/** The number of so many decimals that is not above a value: no class ends before it begins. */
function roundDown(value: number, decimals: number): number {
  const rounded = round(value, decimals)
  return rounded <= value ? rounded : round(rounded - 10 ** -decimals, decimals)
}

function nameColour([red, green, blue]: Rgba): string {
  return `#${[red, green, blue].map((part) => part.toString(16).padStart(2, '0')).join('')}`
}

/** Odds are cut into tenths, and into twentieths where they take no more of those. */
const ODDS_PARTS = 10

/** The tenths or twentieths that the odds of a season reach, all as wide. */
function makeOddsLegend({ minimum, maximum }: ValueEnds): Legend {
  const [least, most] = [minimum, maximum].map((end) => round(end, PROBABILITY_DECIMALS)) as [number, number]
  const parts = most - least < 0.5 ? 2 * ODDS_PARTS : ODDS_PARTS
  const first = Math.min(Math.floor(round(least * parts, PROBABILITY_DECIMALS)), parts - 1)
  const last = Math.max(Math.ceil(round(most * parts, PROBABILITY_DECIMALS)), first + 1)
  const steps = Array.from({ length: last - first - 1 }, (_, at) => (first + at + 1) / parts)
  const ends = { minimum: first / parts, maximum: last / parts }
  const { classify, ...legend } = cutIntoClasses(ends, steps, PROBABILITY_DECIMALS)
  return { ...legend, classify: (value) => classify(round(value, PROBABILITY_DECIMALS)) }
}

/** Colours without an order that the colour-blind distinguish (P. Tol, 2021, "Colour schemes", the light one). */
const KINDS: readonly Colour[] = [
  [119, 170, 221],
  [238, 136, 102],
  [238, 221, 136],
  [255, 170, 187],
  [153, 221, 255],
  [68, 187, 153],
  [187, 204, 51],
  [170, 170, 0],
  [221, 221, 221],
]

/** A class for each of several numbers. */
function makeKindLegend(kinds: readonly { code: number; title: string; colour: Colour }[]): Legend {
  const colours = kinds.map(({ colour }): Rgba => [...colour, OPAQUE])
  const codes = kinds.map(({ code }) => code)
  return {
    classes: kinds.map(({ code, title }, at) => ({
      from: code,
      to: code,
      color: nameColour(colours[at] as Rgba),
      title,
    })),
    colours,
    classify: (value) => codes.indexOf(round(value, 0)),
  }
}

/** The pixels of a landscape raster, with the titles of their conditions: those of a condition have its colour. */
function makeCodeLegend(conditions: PublishedRelease['conditions']): Legend {
  const all = listCodes(conditions)
  const titles = [...new Set(all.map(({ title }) => title))]
  return makeKindLegend(
    all.map((one) => ({ ...one, colour: KINDS[titles.indexOf(one.title) % KINDS.length] as Colour })),
  )
}

/** No season is likelier than each other one. */
const NO_SINGLE_SEASON = 0

/** Blue, beige and orange, which the colour-blind distinguish, and grey. */
const SEASON_LEGEND = makeKindLegend([
  { code: 1, title: 'Above Normal', colour: [33, 102, 172] },
  { code: 2, title: 'Normal', colour: [224, 212, 178] },
  { code: 3, title: 'Below Normal', colour: [217, 95, 2] },
  { code: NO_SINGLE_SEASON, title: 'No single one', colour: [128, 128, 128] },
])

/**
 * Which of several odds is greater than each other one, from 1, by the digits of answers; 0 where several are. NaN where
 * one has no value.
 *
 * @param at index in each
 */
export function chooseLikeliest(odds: readonly Float64Array[], at: number): number {
  let [most, likeliest] = [-1, NO_SINGLE_SEASON]
  for (const [index, values] of odds.entries()) {
    const value = values[at] as number
    if (Number.isNaN(value)) return Number.NaN
    const answered = round(value, PROBABILITY_DECIMALS)
    if (answered === most) likeliest = NO_SINGLE_SEASON
    if (answered > most) [most, likeliest] = [answered, index + 1]
  }
  return likeliest
}
