import type { BatchPoint } from '#schemas/batch.ts'
import type { ErrorBody } from '#schemas/common.ts'
import { POINT_DEFAULTS } from '#schemas/point-request.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { memberTexts } from '#src/lib/json.ts'
import { numberText } from '#src/lib/round.ts'
import { describeEntry, type EntryCertainty, type Figures, figuresOfPoint } from './certainty.ts'
import { type LayerValues, makeLabels, makeOutlookMembers, type ReleaseLabels } from './entries.ts'

/**
 * Answers as JSON, put together from texts that all answers of a release share: `JSON.stringify` of the object, or a
 * compiled serializer, takes a third of the rate of points. A property test holds each text to that of its object.
 */

/** Writes the answers of a release at points. */
export interface ReleaseWriter {
  /** The answer for one product, or an item of many behind its id. */
  writePoint(point: BatchPoint, values: LayerValues): string
  /** An item without values. */
  writeReason(point: BatchPoint, reason: ErrorBody): string
  /** A section of an answer for all products. The release is behind the entries: it may be absent. */
  writeSection(values: LayerValues): string
}

/** @param release null for one that does not answer: it writes reasons alone */
export function createReleaseWriter(
  product: ProductDefinition,
  release: ReleaseLabels | null,
  releaseMembers: object,
): ReleaseWriter {
  const { entries, value } = product
  const members = memberTexts(releaseMembers)
  const afterLocation = `,${[...members, `"${entries}":`].join(',')}`
  const afterValues = joinBehind(members)
  const labels = release ? listLabelTexts(product, release) : []
  const start = (point: BatchPoint) => `{${idMember(point.id)}${writeLocation(point)}${afterLocation}`

  function writeValues(values: LayerValues): string {
    const figures = release?.certainty && figuresOfPoint(values)
    const text = writeEntries(labels, release, figures, (layer) => {
      const found = values[layer] as number
      return Number.isNaN(found) ? undefined : `"${value.key}":${numberText(found)}`
    })
    return figures ? text + writeBehind(makeOutlookMembers(product, release as ReleaseLabels, figures)) : text
  }

  return {
    writePoint: (point, values) => `${start(point)}${writeValues(values)}}`,
    writeReason: (point, reason) => `${start(point)}null,${JSON.stringify(reason).slice(1)}`,
    writeSection: (values) => `{"${entries}":${writeValues(values)}${afterValues}}`,
  }
}

const labelTexts = new WeakMap<ReleaseLabels, string[]>()

/** The texts of a release's layers before their numbers: the same in all its answers. */
export function listLabelTexts(product: ProductDefinition, release: ReleaseLabels): string[] {
  const listed = labelTexts.get(release)
  if (listed) return listed
  const texts = release.layers.map((layer) =>
    memberTexts(makeLabels(product, layer))
      .map((label) => `${label},`)
      .join(''),
  )
  labelTexts.set(release, texts)
  return texts
}

/**
 * The list of entries, in the order of the layers.
 *
 * @param labels their {@link listLabelTexts}
 * @param figures for how sure the values are; undefined where the release does not say it
 * @param numbersOf the members with the numbers of a layer; undefined for none
 */
export function writeEntries(
  labels: readonly string[],
  release: Pick<ReleaseLabels, 'certainty'> | null,
  figures: Figures | undefined,
  numbersOf: (layer: number) => string | undefined,
): string {
  let text = '['
  let before = '{'
  for (let layer = 0; layer < labels.length; layer++) {
    const numbers = numbersOf(layer)
    if (numbers === undefined) continue
    text += `${before}${labels[layer]}${numbers}`
    if (release?.certainty && figures)
      text += writeCertainty(describeEntry(release.certainty, layer, figures))
    before = '},{'
  }
  return before === '{' ? '[]' : `${text}}]`
}

/** The members of an entry behind its numbers. */
function writeCertainty({ probability, range, scenario_of }: EntryCertainty): string {
  let text = ''
  if (probability !== undefined) text += `,"probability":${numberText(probability)}`
  if (range) {
    const { low, high, level } = range
    text += `,"range":{"low":${numberText(low)},"high":${numberText(high)},"level":${level}}`
  }
  if (scenario_of !== undefined) text += `,"scenario_of":${JSON.stringify(scenario_of)}`
  return text
}

/** Members behind others. */
export function writeBehind(members: object): string {
  return joinBehind(memberTexts(members))
}

function joinBehind(texts: readonly string[]): string {
  return texts.map((text) => `,${text}`).join('')
}

/** The begin of the location of most points, which have no name. */
const UNNAMED = `"location":{"name":${JSON.stringify(POINT_DEFAULTS.name)},"lat":`

/** The member with the location of a point. */
export function writeLocation({ name, lat, lng }: Pick<BatchPoint, 'name' | 'lat' | 'lng'>): string {
  const start = name === undefined ? UNNAMED : `"location":{"name":${JSON.stringify(name)},"lat":`
  return `${start}${numberText(lat)},"lng":${numberText(lng)},"type":"point"}`
}

/** The member with an id, and a comma; empty without an id. */
export function idMember(id: string | number | undefined): string {
  if (id === undefined) return ''
  return `"id":${typeof id === 'number' ? id : JSON.stringify(id)},`
}
