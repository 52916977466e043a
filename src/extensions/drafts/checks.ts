import { RESTATING_SCENARIOS, SCENARIOS, SEASONS } from '#schemas/glossary.ts'
import { percentText } from '#src/lib/round.ts'
import { sameGrid } from '#src/raster/grid.ts'
import type { Band } from './bands.ts'
import { askNodata } from './fills.ts'
import type { Guess } from './labels.ts'
import {
  type Around,
  type Ask,
  type CheckedLayer,
  isMeasured,
  keyOf,
  measuredOf,
  sisterKey,
} from './layers.ts'
import {
  type Answers,
  groupBy,
  keepOrLeave,
  LEAVE_OUT,
  nameBand,
  nameBands,
  type Question,
  TILES,
  YES,
} from './questions.ts'
import { type DraftLayer, type DraftRelease, labelsText } from './releases.ts'
import { askScales, askUnits, convert } from './scales.ts'

export interface Checked {
  layers: CheckedLayer[]
  questions: Question[]
  leftOut: { file: string; reason: string }[]
}

/** Compares the bands of a release with each other, with usual values, and with the published release. */
export function checkRelease(release: DraftRelease, around: Around): Checked {
  const { answers } = around
  const questions: Question[] = []
  const ask = (question: Question) => void questions.push(question)
  const out = release.layers.filter((layer) => isLeftOut(layer, release.layers, answers))
  const layers = release.layers
    .filter((layer) => !out.includes(layer))
    .map((layer): CheckedLayer => ({ ...layer, scale: convert(layer, release), nodata: undefined }))
  for (const group of groupBy(layers, keyOf)) askTwice(group, release, around, ask)
  const isOfSeasons = release.product?.seasonal !== false
  const roleOf = ({ members }: DraftLayer) => members.role?.value ?? ''
  for (const sisters of groupBy(layers, isOfSeasons ? sisterKey : roleOf)) {
    askGrids(sisters, answers, ask)
    askNodata(sisters, layers, release, answers, ask)
  }
  askUnits(layers, release, answers, ask)
  // A fill that is not known to be one says nothing of the scale.
  const filled = questions.filter(({ member }) => member === 'nodata').flatMap(({ bands }) => bands)
  const others = layers.filter(({ band }) => !filled.includes(band))
  askScales(others, release, around, ask)
  noteGrids(layers, questions)
  askUnlike(release, layers, around, questions)
  askMissing(layers, [...out, ...release.without], release, answers, ask)
  askOrphans(layers, ask)
  const leftOut = out.map(({ band }) => ({ file: nameBand(band), reason: 'as answered' }))
  return { layers, questions, leftOut }
}

function isLeftOut(layer: DraftLayer, all: readonly DraftLayer[], answers: Answers): boolean {
  const name = nameBand(layer.band)
  if ([`grid ${name}`, `nodata ${name}`, `unlike ${name}`].some((id) => answers.get(id) === LEAVE_OUT))
    return true
  const twins = all.filter((other) => keyOf(other) === keyOf(layer))
  const kept = twins.length > 1 ? answers.get(twiceId(twins)) : undefined
  return kept !== undefined && kept !== name
}

export const twiceId = (twins: readonly DraftLayer[]) =>
  `twice ${twins.map(({ band }) => nameBand(band)).join(' ')}`

/** What is not known yet may distinguish files. */
export function lacksLabels({ members }: DraftLayer, product: DraftRelease['product']): boolean {
  if (!product) return true
  const hasInput = product.input === null || members.role?.value === 'probability' || members.input
  return !hasInput || (product.seasonal && !members.scenario)
}

/** Several files for one layer: which counts is never chosen. */
function askTwice(
  twins: readonly CheckedLayer[],
  { product }: DraftRelease,
  { answers, adjacent }: Around,
  ask: Ask,
): void {
  const [first] = twins
  const id = twiceId(twins)
  if (!first || twins.length === 1 || answers.has(id) || lacksLabels(first, product)) return
  const bands = twins.map(({ band }) => band)
  const names = bands.map(nameBand)
  const isSideBySide = adjacent.has(id)
  const doubt = isSideBySide ? ', and lie side by side: are they tiles of it?' : ': which one counts?'
  const text = `${names.join(' and ')} are ${names.length === 2 ? 'both' : 'all'} for ${labelsText(first) || 'the same layer'}${doubt}`
  const candidates = isSideBySide ? [TILES, ...names] : names
  ask({ id, member: 'file', text, candidates, bands, isOpen: false })
}

/** With how many have the grid of each, and the first one of those that most have. */
function compareGrids(layers: readonly CheckedLayer[]) {
  const isSame = (one: CheckedLayer, other: CheckedLayer) =>
    sameGrid(measuredOf(one).grid, measuredOf(other).grid)
  const measured = layers.filter(({ band }) => band.measured)
  const grids = measured.map((layer) => ({
    layer,
    same: measured.filter((other) => isSame(layer, other)).length,
  }))
  const [most] = grids.toSorted((a, b) => b.same - a.same)
  const odd = measured.filter((layer) => most && !isSame(layer, most.layer))
  return { grids, most, odd }
}

/** The grid that most sisters have. */
function askGrids(sisters: readonly CheckedLayer[], answers: Answers, ask: Ask): void {
  const { grids, most } = compareGrids(sisters)
  for (const { layer, same } of grids) {
    const id = `grid ${nameBand(layer.band)}`
    if (!most || same === most.same || answers.has(id)) continue
    const text = `${nameBand(layer.band)} has another grid than its sisters (${gridsText(layer, most.layer)}): publish it on its own grid?`
    ask(keepOrLeave(id, 'file', text, layer.band))
  }
}

/** Another season, another input, or older rates, by the name of the likeliest season; other units are asked first. */
function askUnlike(
  { layers: all }: DraftRelease,
  layers: readonly CheckedLayer[],
  { answers, unlike }: Around,
  questions: Question[],
): void {
  for (const [layer, share] of unlike) {
    const id = `unlike ${nameBand(layer.band)}`
    const sisters = all.filter((one) => sisterKey(one) === sisterKey(layer)).map(({ band }) => band)
    const isAsked = questions.some(({ bands }) => bands.some((band) => sisters.includes(band)))
    if (isAsked || answers.has(id) || !layers.some(({ band }) => band === layer.band)) continue
    const { value, from } = layer.members.scenario as Guess
    const text = `${nameBand(layer.band)} is for ${value} (${from}), and ${percentText(share)} of its values are those of ${SEASONS.join(', ')} there: is it right?`
    questions.push(keepOrLeave(id, 'scenario', text, layer.band))
  }
}

function gridsText(...layers: [own: CheckedLayer, other: CheckedLayer]): string {
  const texts = layers.map((layer) => {
    const { width, height, pixelWidth, originX, originY, srid } = measuredOf(layer).grid
    const [size, x, y] = [pixelWidth, originX, originY].map((number) => Number(number.toPrecision(8)))
    return `${width} x ${height} pixels of ${size} from ${x}, ${y} in the CRS ${srid}`
  })
  return texts.join(' instead of ')
}

/** Layers that no question is about; odds are often coarser. */
function noteGrids(layers: readonly CheckedLayer[], questions: readonly Question[]): void {
  const asked = questions.filter(({ id }) => id.startsWith('grid ')).flatMap(({ bands }) => bands)
  const { most, odd } = compareGrids(layers.filter(isMeasured))
  for (const layer of odd) {
    if (!most || asked.includes(layer.band)) continue
    layer.note = `on another grid than the others: ${gridsText(layer, most.layer)}`
  }
}

/** Inputs and conditions that lack a scenario which others of the release have, and that no answer has left out. */
function askMissing(
  layers: readonly CheckedLayer[],
  without: readonly DraftLayer[],
  { product }: DraftRelease,
  answers: Answers,
  ask: Ask,
): void {
  if (!product?.seasonal) return
  const values = layers.filter(({ members }) => !members.role)
  const all = new Set(values.flatMap(({ members }) => members.scenario?.value ?? []))
  const missing = groupBy(values, sisterKey).flatMap((group) => {
    const [first] = group as [CheckedLayer]
    // Not yet known ones may be those that lack.
    if (group.some(({ members }) => !members.scenario)) return []
    const known = [...group, ...without.filter((one) => sisterKey(one) === sisterKey(first))]
    const has = new Set(known.map(({ members }) => members.scenario?.value))
    const names = SCENARIOS.map(({ scenario }) => scenario).filter((name) => all.has(name) && !has.has(name))
    const { scenario: _, ...members } = first.members
    const of = labelsText({ members })
    return names.map((name) => ({ band: first.band, says: [of, name].filter(Boolean).join(', ') }))
  })
  if (missing.length === 0) return
  const says = missing.map((one) => one.says).join('; ')
  const id = `missing ${product.code} ${says}`
  if (answers.has(id)) return
  const bands = [...new Set(missing.map(({ band }) => band))]
  const text = `there is no file for ${says}: publish without?`
  ask({ id, member: 'layers', text, candidates: [YES], bands, isOpen: false, isYesNo: true })
}

/** Ranges without the layer that they are about. */
function askOrphans(layers: readonly CheckedLayer[], ask: Ask): void {
  const isBase = (layer: DraftLayer, { members: { input, scenario, condition } }: DraftLayer) =>
    !layer.members.role &&
    layer.members.input?.value === input?.value &&
    layer.members.scenario?.value === scenario?.value &&
    layer.members.condition?.value === condition?.value
  const orphans = layers.filter((layer) => {
    const role = layer.members.role?.value
    if (!role) return false
    if (role === 'probability') {
      const { value = '' } = layer.members.scenario ?? {}
      const isOne = ({ members }: DraftLayer) => !members.role && members.scenario?.value === value
      return RESTATING_SCENARIOS.includes(value) || !layers.some(isOne)
    }
    return !layers.some((other) => isBase(other, layer))
  })
  const [first] = orphans
  if (!first) return
  const bands: Band[] = orphans.map(({ band }) => band)
  const text = `there is no layer that ${nameBands(bands)} ${bands.length === 1 ? 'is' : 'are'} about (${labelsText(first) || 'the same layer'})`
  ask({ id: `orphan ${nameBand(first.band)}`, member: 'role', text, candidates: [], bands, isOpen: false })
}
