import type { CompanionRole } from '#schemas/certainty.ts'
import type { ProductDefinition, Series } from '#schemas/products/define.ts'
import type { ReleaseIssue } from '#src/catalog/release-checks.ts'
import { isoMonth, monthsBetween } from '#src/lib/dates.ts'
import { percentText, shortNumber } from '#src/lib/round.ts'
import type { Grid, LevelExtent } from '#src/raster/grid.ts'
import { PIXEL_TYPES, type PixelType } from '#src/raster/pixels.ts'
import type { LayerSource } from '../source.ts'
import type { Extreme, SourceStatistics, Statistics, Tally } from '../statistics.ts'

export interface LayerFacts {
  input: string | null
  scenario: string | null
  /** Of a band about layers. */
  role?: CompanionRole
  unit: string
  /** The file, or the layer's name. */
  origin: string
  condition?: string
  /** Of pixels. */
  scale?: number
  /** Undefined for stored layers. */
  about?: LayerSource['about']
  /** Undefined before pixels are read. */
  statistics?: Statistics
  /** Undefined for stored layers. */
  raw?: Raw
}

/** Without scale and offset. */
type Raw = Pick<SourceStatistics, 'values' | 'frame' | 'filled'> & { pixelType: PixelType }

export interface CoverageFacts {
  /** Undefined for stored layers. */
  grid?: Grid
  extent: LevelExtent
  pixels: number
  layers: LayerFacts[]
  /** The share of the country with values around; null if unknown, undefined before pixels are read. */
  spread?: number | null
}

/** A check without its facts finds nothing. */
export interface ReleaseFacts {
  series: Series & { synthetic: boolean }
  coverages: CoverageFacts[]
  /** About files beside their pixels. */
  notes?: string[]
  notHonoured?: string[]
  /** Inputs whose scenarios have equal values; null for layers without input. */
  alikeInputs?: (string | null)[]
}

export interface Surroundings {
  today: Date
  country: { code: string; name: string; extent: LevelExtent | null }
  /** What countries and crops are called, with their codes. */
  words: Record<'country_code' | 'crop', [word: string, code: string][]>
  /** Of the same product, country, crop and kind; an ISO date. */
  newestMonth: string | null
  /** Names of published releases of the product, in any country. */
  names: { inputs: string[]; scenarios: string[] }
  /** In the product's unit. */
  plausible: ProductDefinition['plausible']
}

type FoundIssue = Omit<ReleaseIssue, 'allowed'>

export type Check = (release: ReleaseFacts, surroundings: Surroundings) => FoundIssue[]

export function listLayers({ coverages }: ReleaseFacts): LayerFacts[] {
  return coverages.flatMap(({ layers }) => layers)
}

/** Whether a band has values of the product. */
export function isOfProduct({ role }: LayerFacts): boolean {
  return role === undefined || role === 'low' || role === 'high'
}

export function labelLayer({ input, scenario }: LayerFacts): NonNullable<FoundIssue['layer']> {
  return { input, scenario }
}

const SMALLEST_PART_WITH_VALUES = 0.001

function isEmpty({ statistics }: LayerFacts, pixels: number): boolean {
  return statistics !== undefined && statistics.validCount < pixels * SMALLEST_PART_WITH_VALUES
}

/** Published layers without values answer 404. */
const empty: Check = ({ coverages }) =>
  coverages.flatMap(({ pixels, layers }) =>
    layers
      .filter((layer) => isEmpty(layer, pixels))
      .map((layer) => {
        const validCount = layer.statistics?.validCount ?? 0
        const sentence =
          validCount === 0
            ? `${layer.origin} has no value at all.`
            : `${layer.origin} has a value in ${validCount} of ${pixels} pixels (${percentText(validCount / pixels)}), which is hardly any (at least ${percentText(SMALLEST_PART_WITH_VALUES)}).`
        return {
          check: 'empty',
          level: 'error',
          sentence,
          layer: labelLayer(layer),
          figures: { valid: validCount, pixels },
        }
      }),
  )

/** A grid over less of its country belongs elsewhere. */
const SMALLEST_PART = 0.1

/** A grid outside its country, or over little of it. */
const extent: Check = ({ coverages }, { country }) => {
  const { extent: ofCountry } = country
  if (ofCountry === null) return []
  return coverages.flatMap((coverage) => {
    const part = partCovered(ofCountry, coverage.extent)
    if (part >= SMALLEST_PART) return []
    const which = `The grid of ${originsIn(coverage)} (${text(coverage.extent)})`
    const where = `${country.name} (${text(ofCountry)})`
    const meets = part === 0 ? 'does not meet' : `covers ${percentText(part)} of the extent of`
    const swapped = partCovered(ofCountry, swap(coverage.extent)) >= SMALLEST_PART
    return {
      check: 'extent',
      level: 'error',
      sentence: `${which} ${meets} ${where}${part === 0 ? '' : ', less than a tenth'}${swapped ? '; with its axes the other way round it would: are they swapped?' : '.'}`,
      ...(coverage.layers.length === 1 && { layer: labelLayer(coverage.layers[0] as LayerFacts) }),
      figures: { ...coverage.extent, covered: part },
    }
  })
}

/** The least part of the extent of the values that odds and the landscape cover. */
const SMALLEST_COVER = 0.99

/** Odds or a landscape over another extent than the values that they are about. */
const companionExtent: Check = ({ coverages }) => {
  const ofValues = coverages.filter(({ layers }) => layers.some(isOfProduct))
  return coverages
    .filter(({ layers }) => !layers.some(isOfProduct))
    .flatMap((coverage) => {
      const part = Math.min(...ofValues.map(({ extent }) => partCovered(extent, coverage.extent)))
      if (part >= SMALLEST_COVER) return []
      return {
        check: 'extent',
        level: 'error',
        sentence: `The grid of ${originsIn(coverage)} (${text(coverage.extent)}) covers ${percentText(part)} of the extent of the values that it is about.`,
        figures: { ...coverage.extent, covered: part },
      }
    })
}

/** Values outside the country, in little of it, or at an unknown position, although the grid lies there. */
const spread: Check = ({ coverages }, { country }) =>
  coverages.flatMap((coverage) => {
    const { spread: part, layers, pixels } = coverage
    if (part === undefined || (part !== null && part >= SMALLEST_PART)) return []
    // Other checks report these.
    if (country.extent === null || partCovered(country.extent, coverage.extent) < SMALLEST_PART) return []
    if (layers.every((layer) => isEmpty(layer, pixels))) return []
    const layer = layers.length === 1 && { layer: labelLayer(layers[0] as LayerFacts) }
    if (part === null) {
      return {
        check: 'extent',
        level: 'note',
        sentence: `Where values of ${originsIn(coverage)} are is not known: it has no summaries, which \`agro migrate\` makes, or none of the places that are looked at is in ${country.name}.`,
        ...layer,
      }
    }
    const where = part === 0 ? 'no values in' : `values in ${percentText(part)} of`
    return {
      check: 'extent',
      level: 'error',
      sentence: `${originsIn(coverage)} has ${where} ${country.name}${part === 0 ? ', in whose extent its grid lies' : ', less than a tenth'}.`,
      ...layer,
      figures: { covered: part },
    }
  })

function partCovered(whole: LevelExtent, by: LevelExtent): number {
  const width = Math.min(whole.east, by.east) - Math.max(whole.west, by.west)
  const height = Math.min(whole.north, by.north) - Math.max(whole.south, by.south)
  const area = (whole.east - whole.west) * (whole.north - whole.south)
  return (Math.max(width, 0) * Math.max(height, 0)) / area
}

function swap({ west, south, east, north }: LevelExtent): LevelExtent {
  return { west: south, south: west, east: north, north: east }
}

function originsIn({ layers: [first, ...others] }: CoverageFacts): string {
  return `${first?.origin}${others.length > 0 ? ` and ${others.length} more` : ''}`
}

function text({ west, south, east, north }: LevelExtent): string {
  return [west, south, east, north].map((degrees) => Number(degrees.toFixed(2))).join(', ')
}

/** Seasons are forecast later. */
const FARTHEST_MONTHS = 18

/** A month that answers all requests too early, or almost none. */
const month: Check = ({ series: { forecastPeriod } }, { today, newestMonth }) => {
  if (forecastPeriod === null) return []
  const found = (sentence: string, figures: FoundIssue['figures']): FoundIssue[] => [
    { check: 'month', level: 'error', sentence, figures },
  ]
  const ahead = monthsBetween(today.toISOString(), forecastPeriod)
  const own = isoMonth(forecastPeriod)
  if (ahead > FARTHEST_MONTHS) {
    return found(
      `The month ${own} is ${ahead} months ahead, more than ${FARTHEST_MONTHS}: as the newest month it would answer everybody who names none.`,
      { month: own, monthsAhead: ahead },
    )
  }
  if (newestMonth !== null && newestMonth > forecastPeriod) {
    const newest = isoMonth(newestMonth)
    return found(
      `The month ${own} is older than ${newest}, which is published: only who asks for ${own} would get these values.`,
      { month: own, newestPublished: newest },
    )
  }
  return []
}

/** Hidden pixels may count as values. */
const notHonoured: Check = ({ notHonoured = [] }) =>
  notHonoured.map((sentence) => ({ check: 'not-honoured', level: 'error', sentence }))

const reading: Check = ({ notes = [] }) =>
  notes.map((sentence) => ({ check: 'reading', level: 'note', sentence }))

/** One file was probably given for all scenarios. */
const scenariosAlike: Check = (release) =>
  (release.alikeInputs ?? []).map((input) => {
    const scenarios = listLayers(release)
      .filter((layer) => layer.input === input && layer.role === undefined)
      .map(({ scenario }) => scenario)
    return {
      check: 'scenarios-alike',
      level: 'error',
      sentence: `All ${scenarios.length} scenarios${input === null ? '' : ` of ${input}`} have the same values (${scenarios.join(', ')}): is each layer of its own file or band?`,
      figures: { input, scenarios: scenarios.length },
    }
  })

/** A nodata value is seldom rare. */
const SMALLEST_NODATA_PART = 0.01

/** Least distance, relative to the range of the others, of a value at the grid's edges or at the end of its type. */
const SMALLEST_GAP = 0.25

/** Relative to the largest value: nearer values differ by rounding. */
const SMALLEST_DIFFERENCE = 0.001

/** Share of the grid's edges. */
const SMALLEST_PART_OF_FRAME = 0.5
const CORNERS = 4

/** A frequent value apart from all others: -9999 would be answered as a rate. */
export const undeclaredNodata: Check = (release) =>
  release.coverages.flatMap(({ layers, pixels }) =>
    layers.flatMap((layer) => {
      const evidence = findApart(layer)
      if (evidence === undefined) return []
      const { value, part, others, atEdges } = evidence
      const step = nodataStep([layer], value, hasNodata(layer, pixels))
      const range = [...new Set(others.map(shortNumber))].join(' to ')
      return {
        check: 'undeclared-nodata',
        level: 'error',
        sentence: `${layer.origin} has the pixel value ${shortNumber(value)} in ${percentText(part)} of its values, apart from all others (${range})${atEdges ? ', at the corners and edges of the grid' : ''}: does it mean none? ${step}`,
        layer: labelLayer(layer),
        figures: { value, part, othersFrom: others[0], othersTo: others[1] },
      }
    }),
  )

function hasNodata({ statistics }: LayerFacts, pixels: number): boolean {
  return statistics !== undefined && statistics.validCount < pixels
}

/** Of values of the product, and of their spread. */
export function findApart({ role, raw, ...layer }: LayerFacts) {
  if (role !== 'stddev' && !isOfProduct({ role, ...layer })) return undefined
  const { low = null, high = null } = raw?.values ?? {}
  if (raw === undefined || low === null || high === null) return undefined
  return looksLikeNodata(raw, low, high) ?? looksLikeNodata(raw, high, low)
}

/**
 * What makes a value of layers mean none. A layer has one nodata value: a second one is replaced by it.
 *
 * @param isUsed whether pixels have the stated one
 */
export function nodataStep(
  layers: Pick<LayerFacts, 'about' | 'role'>[],
  value: number,
  isUsed = true,
): string {
  const nodata = layers[0]?.about?.nodata
  if (nodata !== undefined && isUsed)
    return `Then \`gdalwarp -srcnodata ${value} -dstnodata ${nodata} IN.tif OUT.tif\` puts its nodata value there.`
  const lines = layers.map(({ about, role }) => {
    const layer = about?.line === undefined ? 'its layer' : `the layer of line ${about.line}`
    return role === undefined ? layer : `the ${role} of ${layer}`
  })
  return `Then write \`nodata: ${value}\` in ${[...new Set(lines)].join(' and ')}.`
}

function looksLikeNodata({ values, frame, pixelType }: Raw, end: Extreme, otherEnd: Extreme) {
  const part = end.count / values.count
  if (part <= SMALLEST_NODATA_PART || end.next === null) return undefined
  const others: [number, number] = [Math.min(end.next, otherEnd.value), Math.max(end.next, otherEnd.value)]
  const gap = Math.abs(end.next - end.value)
  const range = others[1] - others[0]
  if (gap < SMALLEST_DIFFERENCE * Math.max(Math.abs(end.value), ...others.map(Math.abs))) return undefined
  const atEdges = standsAtEdges(end.value, frame.corners, frame.values)
  const isEvident =
    // Amounts are not negative.
    (end.value < 0 && others.every((other) => other >= 0)) ||
    (gap > Math.max(range, ...others.map(Math.abs)) && hasThreeValues(end.next, otherEnd)) ||
    (gap > range * SMALLEST_GAP && (atEdges || isEndOfType(end.value, pixelType)))
  return isEvident ? { value: end.value, part, others, atEdges } : undefined
}

/** Two values show no range. */
function hasThreeValues(next: number, otherEnd: Extreme): boolean {
  return otherEnd.next !== null && next !== otherEnd.value && next !== otherEnd.next
}

function standsAtEdges(value: number, corners: number[], edges: Tally): boolean {
  const end = [edges.low, edges.high].find((extreme) => extreme?.value === value)
  return (
    corners.length === CORNERS &&
    corners.every((corner) => corner === value) &&
    (end?.count ?? 0) > edges.count * SMALLEST_PART_OF_FRAME
  )
}

/** Integer types often use their end for nodata; 0 is a real value. */
function isEndOfType(value: number, type: PixelType): boolean {
  const { BYTES_PER_ELEMENT: bytes } = PIXEL_TYPES[type].PixelArray
  if (type.endsWith('F') || value === 0) return false
  const span = 2 ** (8 * bytes)
  return type.endsWith('SI') ? value === -span / 2 || value === span / 2 - 1 : value === span - 1
}

/** Less may be a coast or a border. */
const SMALLEST_DIFFERENCE_OF_PRESENCE = 0.02

/** Pixels of other grids cut coasts and borders otherwise. */
const LARGEST_DIFFERENCE_OF_FILL = 0.1

function isFilled({ raw }: LayerFacts, pixels: number): boolean {
  return (raw?.filled?.count ?? 0) > pixels * SMALLEST_DIFFERENCE_OF_PRESENCE
}

/** One value where other layers have none, or values in another part of the grid. */
const presence: Check = ({ coverages }) => {
  const groups = new Map<string, PlacedLayer[]>()
  for (const { grid, pixels, layers } of coverages) {
    for (const layer of layers) {
      const isKnown = isFilled(layer, pixels) || isEmpty(layer, pixels) || findApart(layer) !== undefined
      if (!grid || layer.role !== undefined || isKnown) continue
      const key = JSON.stringify([layer.input, layer.condition])
      groups.set(key, [...(groups.get(key) ?? []), { layer, grid }])
    }
  }
  return [
    ...coverages.flatMap(({ pixels, layers }) =>
      layers.flatMap((layer) =>
        isFilled(layer, pixels) && !findApart(layer) ? describeFilled(layer, pixels) : [],
      ),
    ),
    ...[...groups.values()].flatMap(describeDifference),
  ]
}

function describeFilled(
  layer: LayerFacts,
  pixels: number,
  filled = layer.raw?.filled as NonNullable<Raw['filled']>,
): FoundIssue {
  const { values } = layer.raw as Raw
  const { value, count, isOfOne } = filled
  const ends = [values.low?.value, values.high?.value]
  // A recommendation of one value may reach farther than others; fills are at an end of the values.
  const isFill = [0, ...ends].includes(value) && ends[0] !== ends[1]
  return {
    check: 'presence',
    level: isFill && isOfOne ? 'error' : 'note',
    sentence: `${layer.origin} has the pixel value ${shortNumber(value)} in ${percentText(count / pixels)} of its grid, where other layers ${isOfOne ? `of ${layer.input ?? 'its kind'} ` : ''}have none: does it mean none? ${nodataStep([layer], value, hasNodata(layer, pixels))}`,
    layer: labelLayer(layer),
    figures: { value, part: count / pixels },
  }
}

interface PlacedLayer {
  layer: LayerFacts
  grid: Grid
}

/** An area in the units of the grid. */
function measure({ layer, grid }: PlacedLayer, count = layer.statistics?.validCount ?? 0): number {
  return Math.abs(grid.pixelWidth * grid.pixelHeight) * count
}

/** Grids that differ are compared by area alone. */
function describeDifference(layers: PlacedLayer[]): FoundIssue[] {
  const [fewest, ...others] = layers.toSorted((a, b) => measure(a) - measure(b))
  const most = others.at(-1)
  if (!fewest || !most) return []
  const note = (sentence: string): FoundIssue[] => [
    { check: 'presence', level: 'note', sentence, layer: labelLayer(fewest.layer) },
  ]
  if (layers.some(({ grid }) => grid.srid !== most.grid.srid))
    return note(
      `Where layers of ${fewest.layer.input ?? 'the scenarios'} have values was not compared: their grids have different reference systems.`,
    )
  const whole = (one: PlacedLayer) => measure(one, one.grid.width * one.grid.height)
  const differ = others.filter(
    (other) => measure(other) - measure(fewest) > whole(other) * SMALLEST_DIFFERENCE_OF_PRESENCE,
  )
  if (!differ.includes(most)) return []
  const filled = differ.flatMap((other) => findFillByArea(fewest, other) ?? [])
  if (filled.length > 0) return filled
  const [few, many] = [fewest, most].map((one) => percentText(measure(one) / whole(one)))
  const { origin } = fewest.layer
  return note(
    fewest.grid === most.grid
      ? `${origin} has values in ${few} of its grid, and ${most.layer.origin} in ${many}: is its file whole?`
      : `${origin} has values in an area of ${percentText(measure(fewest) / measure(most))} of that of ${most.layer.origin}, on another grid: is its file whole?`,
  )
}

/** The end of the values that fills as much as a layer has more than another one, on another grid. */
function findFillByArea(fewest: PlacedLayer, more: PlacedLayer): FoundIssue | undefined {
  const { values } = more.layer.raw ?? {}
  if (fewest.grid === more.grid || !values || values.low?.value === values.high?.value) return undefined
  const difference = measure(more) - measure(fewest)
  const isFill = ({ count }: Extreme) =>
    Math.abs(measure(more, count) - difference) <= difference * LARGEST_DIFFERENCE_OF_FILL
  const end = [values.low, values.high].find((one) => one !== null && isFill(one))
  const pixels = more.grid.width * more.grid.height
  return end ? describeFilled(more.layer, pixels, { ...end, isOfOne: true }) : undefined
}

export const CHECKS: Check[] = [
  reading,
  notHonoured,
  extent,
  companionExtent,
  month,
  empty,
  spread,
  undeclaredNodata,
  presence,
  scenariosAlike,
]
