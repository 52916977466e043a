import type { Catalog, CatalogRelease, Tileset } from '../api-types.ts'
import { nameOdds } from '../parts/choices.ts'
import { seasonNote } from '../parts/values.ts'
import { element } from '../shell/element.ts'
import { mapTexts, TEXTS } from '../texts/en.ts'
import { nameOfLayer, nameOfOdds, nameOfSource, numberText } from '../texts/names.ts'

// What colours mean: those of a layer, which the service says, and those of places and areas, which pages choose.

export type Class = Tileset['classes'][number]

const PERCENT = 100

/** The legend of a layer: unit, classes and how they were cut. */
export function legend(layer: Tileset, release: CatalogRelease, catalog: Catalog) {
  const texts = mapTexts.legend
  const odds = nameOdds(layer)
  const isOfKinds = layer.classes.some(({ title }) => title !== undefined)
  return legendOf(
    {
      title: odds === null ? nameOfLayer(release.product, layer) : nameOfOdds(odds),
      unit: odds === null ? layer.unit : isOfKinds ? '' : TEXTS.odds.unit,
      classes: layer.classes,
      factor: odds === null ? 1 : PERCENT,
      note: [explainClasses(layer, isOfKinds), texts.none].join(' '),
    },
    seasonNote(catalog, odds === null ? [layer.scenario] : []),
    element('p', { className: 'small' }, nameOfSource(release)),
  )
}

interface Meaning {
  title: string
  unit: string
  /** In order, unless they have titles. */
  classes: Class[]
  note: string
  /** Of the numbers. */
  factor?: number
}

/** A legend of classes. @param more what is said below */
export function legendOf(
  { title, unit, classes, note, factor = 1 }: Meaning,
  ...more: (HTMLElement | false)[]
): HTMLElement {
  const isOfKinds = classes.some((one) => one.title !== undefined)
  const rows = isOfKinds ? kindRows(classes) : classRows(classes, factor)
  return element(
    'section',
    { className: 'legend', 'aria-label': mapTexts.legend.title },
    element('h2', {}, title, element('span', { className: 'unit' }, ` ${unit}`)),
    classes.length > 0
      ? element('ol', isOfKinds ? { className: 'kinds' } : {}, ...rows)
      : element('p', {}, mapTexts.legend.empty),
    element('p', { className: 'small' }, note),
    ...more,
  )
}

function explainClasses(layer: Tileset, isOfKinds: boolean) {
  const texts = mapTexts.legend
  if (nameOdds(layer) !== null) return isOfKinds ? TEXTS.odds.mostLikelyNote : TEXTS.odds.note
  return [texts[layer.cut], layer.scenario !== null && texts.shared].filter(Boolean).join(' ')
}

/** Classes that are all as wide, with where each begins; the last end stands behind them. */
function classRows(classes: Class[], factor: number) {
  const text = (end: number) => numberText(Number((factor * end).toPrecision(12)))
  const tick = (end: number) => element('span', { className: 'ticks', 'aria-hidden': 'true' }, text(end))
  const rows = classes.map(({ from, to, color }) => {
    const said = from === to ? text(from) : mapTexts.legend.range(text(from), text(to))
    const range = element('span', { className: 'unseen' }, said)
    return element('li', {}, swatchOf(color), range, tick(from))
  })
  const last = classes.at(-1)
  // A class of one value ends where it begins.
  return last && last.from !== last.to
    ? [...rows, element('li', { className: 'end', 'aria-hidden': 'true' }, text(last.to))]
    : rows
}

/** Classes that have no order. */
function kindRows(classes: Class[]) {
  return classes.map(({ color, title }) =>
    element('li', {}, swatchOf(color), element('span', {}, title ?? '')),
  )
}

export function swatchOf(color: string) {
  const swatch = element('span', { className: 'swatch' })
  swatch.style.backgroundColor = color
  return swatch
}

/** From low to high: viridis, which those see as well who do not tell red from green. */
const COLORS = ['#440154', '#3b528b', '#21918c', '#5ec962', '#fde725']

/** Less is the noise of computing. */
const LEAST_RANGE = 1e-9

/** Of what has no value. */
const NO_VALUE = '#888888'

/** Classes of values with about as many each, at numbers with two digits of the whole range. Each has a value. */
export function classesOf(values: number[]): Class[] {
  const sorted = values.toSorted((a, b) => a - b)
  const [least, most] = [sorted[0], sorted.at(-1)]
  if (least === undefined || most === undefined) return []
  const range = most - least
  const unit = 10 ** (Math.floor(Math.log10(range > LEAST_RANGE ? range : 1)) - 1)
  const short = (value: number, round = Math.round) => Number((round(value / unit) * unit).toPrecision(12))
  const begins = [Math.min(least, short(least, Math.floor))]
  for (const [at] of COLORS.slice(1).entries()) {
    const begin = short(sorted[Math.floor((sorted.length * (at + 1)) / COLORS.length)] ?? most)
    const before = begins.at(-1) as number
    if (begin <= most && sorted.some((value) => value >= before && value < begin)) begins.push(begin)
  }
  const apart = begins.length > 1 ? (COLORS.length - 1) / (begins.length - 1) : 0
  return begins.map((from, at) => ({
    from,
    to: begins[at + 1] ?? Math.max(most, short(most, Math.ceil)),
    color: COLORS[Math.round(at * apart)] as string,
  }))
}

/** The colour of a value; that of none for null. */
export function colorIn(classes: Class[], value: number | null | undefined): string {
  if (value === null || value === undefined) return NO_VALUE
  return classes.findLast(({ from }) => value >= from)?.color ?? classes[0]?.color ?? NO_VALUE
}
