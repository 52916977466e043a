import type { ErrorBody } from '#schemas/common.ts'
import { POINT_DEFAULTS, type PointRequest } from '#schemas/point-request.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { memberTexts } from '#src/lib/json.ts'
import { numberText } from '#src/lib/round.ts'
import { describeEntry, type EntryCertainty, type Figures, figuresOfPoint } from './certainty.ts'
import { type LayerValues, makeLabels, makeOutlookMembers, type ReleaseLabels } from './entries.ts'
import type { LayerLabel } from './layers.ts'

/**
 * Answers as JSON, put together from texts that all answers of a release share: `JSON.stringify` of the object, or a
 * compiled serializer, takes a third of the rate of points. A property test holds each text to that of its object.
 */

/** A point, and its id among many. */
type WrittenPoint = Pick<PointRequest, 'lat' | 'lng' | 'name'> & { id?: string | number | undefined }

/** Writes the answers of a release at points. */
export interface ReleaseWriter {
  /** The answer for one product, or an item of many behind its id. */
  writePoint(point: WrittenPoint, values: LayerValues): string
  /** An item without values. */
  writeReason(point: WrittenPoint, reason: ErrorBody): string
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
  const starts = prepareEntries(product, release?.layers ?? [], `"${value.key}":`)
  const start = (point: WrittenPoint) => `{${idMember(point.id)}${writeLocation(point)}${afterLocation}`

  function writeValues(values: LayerValues): string {
    const figures = release?.certainty && figuresOfPoint(values)
    const text = writeEntries(starts, release, figures, (layer) => {
      const found = values[layer] as number
      return Number.isNaN(found) ? undefined : numberText(found)
    })
    return figures ? text + writeBehind(makeOutlookMembers(product, release as ReleaseLabels, figures)) : text
  }

  return {
    writePoint: (point, values) => `${start(point)}${writeValues(values)}}`,
    writeReason: (point, reason) => `${start(point)}null,${JSON.stringify(reason).slice(1)}`,
    writeSection: (values) => `{"${entries}":${writeValues(values)}${afterValues}}`,
  }
}

/** The texts of entries before their numbers, of the first one and of those behind it. */
interface EntryStarts {
  first: readonly string[]
  further: readonly string[]
}

/** @param last behind the labels of each layer */
export function prepareEntries(
  product: ProductDefinition,
  layers: readonly LayerLabel[],
  last = '',
): EntryStarts {
  const first = layers.map((layer) => {
    const labels = memberTexts(makeLabels(product, layer))
    return `{${labels.map((label) => `${label},`).join('')}${last}`
  })
  return { first, further: first.map((start) => `},${start}`) }
}

/**
 * The list of entries, in the order of the layers.
 *
 * @param figures for how sure the values are; undefined where the release does not say it
 * @param numbersOf the text of a layer's numbers; undefined for none
 */
export function writeEntries(
  { first, further }: EntryStarts,
  release: Pick<ReleaseLabels, 'certainty'> | null,
  figures: Figures | undefined,
  numbersOf: (layer: number) => string | undefined,
): string {
  const certainty = release?.certainty
  let text = '['
  let starts = first
  for (let layer = 0; layer < first.length; layer++) {
    const numbers = numbersOf(layer)
    if (numbers === undefined) continue
    text += starts[layer] + numbers
    if (certainty && figures) text += writeCertainty(describeEntry(certainty, layer, figures))
    starts = further
  }
  return starts === first ? '[]' : `${text}}]`
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
export function writeLocation({ name, lat, lng }: WrittenPoint): string {
  const start = name === undefined ? UNNAMED : `"location":{"name":${JSON.stringify(name)},"lat":`
  return `${start}${numberText(lat)},"lng":${numberText(lng)},"type":"point"}`
}

/** The member with an id, and a comma; empty without an id. */
export function idMember(id: string | number | undefined): string {
  if (id === undefined) return ''
  return `"id":${typeof id === 'number' ? id : JSON.stringify(id)},`
}
