import type { BatchPoint, SentLabels } from '#schemas/batch-forms.ts'
import type { ErrorBody } from '#schemas/common.ts'
import { POINT_DEFAULTS } from '#schemas/point-request.ts'
import { AnswerTemplate, TemplatedAnswer } from '#src/domains/history/queries.ts'
import { memberTexts } from '#src/lib/json-text.ts'
import { numberText } from '#src/lib/round.ts'
import type { ProductDefinition } from '#src/products/define.ts'
import { labelsOf, type ReleaseMembers } from './products.ts'
import type { LayerLabel } from './queries.ts'
import type { LayerValues } from './values.ts'

/** A point that cannot be answered for, and why. */
export interface UnansweredPoint {
  id: string | number | undefined
  reason: ErrorBody
  /** What was sent of it. */
  sent: SentLabels
}

/** Writes the answer to a point of a release: with values, without any, or to what is no point at all. */
export interface ItemWriter {
  answered(point: BatchPoint, values: LayerValues): string
  without(point: BatchPoint, reason: ErrorBody): string
  refused(point: UnansweredPoint): string
}

/** Writes the answers of a release as JSON. */
export interface ReleaseWriter extends ItemWriter {
  /** What is answered to a point, as the history keeps it; undefined where it has no template. */
  templated(point: BatchPoint, values: LayerValues): TemplatedAnswer | undefined
  /** What the release says in an answer with others. */
  section(values: LayerValues): string
}

/** How the answer to a point begins that has neither an id nor a name. */
const PLAIN_LOCATION = `"location":{"name":${JSON.stringify(POINT_DEFAULTS.name)},"lat":`
const PLAIN_START = `{${PLAIN_LOCATION}`

/**
 * Items are what the point endpoint answers, behind their id where they have one. In a section the members of the release
 * are behind the entries, since they may be absent there.
 *
 * @param releaseMembers what each of them says beside its place and its entries
 */
export function itemWriter(
  product: ProductDefinition,
  layers: readonly LayerLabel[],
  releaseMembers: ReleaseMembers,
): ReleaseWriter {
  const { entries, value } = product
  // The fewer pieces a text is put together from, the faster it goes.
  const first = layers.map((layer) => beforeValue({ ...labelsOf(product, layer), [value.key]: 0 }))
  const further = first.map((fragment) => `},${fragment}`)
  const members = memberTexts(releaseMembers)
  const afterLng = `,"type":"point"},${members.map((member) => `${member},`).join('')}"${entries}":`
  const afterLngWithValues = `${afterLng}[`
  const sectionStart = `{"${entries}":[`
  const sectionEnd = `}],${members.join()}}`
  const start = ({ id, name, lat, lng }: BatchPoint, after: string) =>
    `${id === undefined && name === undefined ? PLAIN_START : namedStart(id, name)}${numberText(lat)},"lng":${numberText(lng)}${after}`
  const templateOf = createTemplates((layers) => [
    '{"location":{"name":',
    ',"lat":',
    ',"lng":',
    ...layers.map((layer, place) =>
      place === 0 ? `${afterLngWithValues}${first[layer]}` : (further[layer] as string),
    ),
    '}]}',
  ])
  /** Entries behind the text that they begin with, but for the brackets at their end. */
  function withEntries(before: string, values: LayerValues): string {
    let text = before
    let fragments = first
    for (let index = 0; index < values.length; index++) {
      const found = values[index] as number
      if (Number.isNaN(found)) continue
      text += `${fragments[index]}${numberText(found)}`
      fragments = further
    }
    return text
  }
  const open = (point: BatchPoint, values: LayerValues) =>
    `${withEntries(start(point, afterLngWithValues), values)}}]`
  return {
    answered: (point, values) => `${open(point, values)}}`,
    section: (values) => `${withEntries(sectionStart, values)}${sectionEnd}`,
    templated(point, values) {
      const { name = POINT_DEFAULTS.name, lat, lng } = point
      const template = templateOf(values)
      if (!template) return undefined
      let filling = `${JSON.stringify(name)}\n${numberText(lat)}\n${numberText(lng)}`
      for (const value of values) if (!Number.isNaN(value)) filling += `\n${numberText(value)}`
      return new TemplatedAnswer(open(point, values), template, filling)
    },
    without: (point, reason) => `${start(point, afterLng)}null,${JSON.stringify(reason).slice(1)}`,
    refused: ({ id, sent, reason }) =>
      `{${idMember(id)}${sentMember(sent)}${JSON.stringify(reason).slice(1)}`,
  }
}

/** How the answer for all products to a point begins. */
export function locationStart({ name, lat, lng }: Pick<BatchPoint, 'name' | 'lat' | 'lng'>): string {
  return `${name === undefined ? PLAIN_START : namedStart(undefined, name)}${numberText(lat)},"lng":${numberText(lng)},"type":"point"}`
}

/** Each has a row in the database: where a release has more sets of layers with values, others are kept as a whole. */
const MOST_TEMPLATES = 100

/**
 * Makes the templates of a release, one for each set of layers that have values somewhere.
 *
 * @param piecesOf the pieces around the values of some layers
 */
function createTemplates(piecesOf: (layers: number[]) => string[]) {
  const templates = new Map<string, AnswerTemplate>()
  return (values: LayerValues): AnswerTemplate | undefined => {
    // Most often all layers have one: that needs no key to be put together.
    const key = values.includes(Number.NaN)
      ? values.map((value) => (Number.isNaN(value) ? '-' : '+')).join('')
      : ''
    const known = templates.get(key)
    if (known || templates.size >= MOST_TEMPLATES) return known
    const layers = values.flatMap((value, layer) => (Number.isNaN(value) ? [] : [layer]))
    const template = new AnswerTemplate(piecesOf(layers))
    templates.set(key, template)
    return template
  }
}

function namedStart(id: string | number | undefined, name: string | undefined): string {
  const location = name === undefined ? PLAIN_LOCATION : `"location":{"name":${JSON.stringify(name)},"lat":`
  return `{${idMember(id)}${location}`
}

/** The text of an object up to the number that ends it. */
function beforeValue(entry: object): string {
  return JSON.stringify(entry).slice(0, -2)
}

function sentMember(sent: SentLabels): string {
  const text = JSON.stringify(sent)
  return text === '{}' ? '' : `"sent":${text},`
}

export function idMember(id: string | number | undefined): string {
  if (id === undefined) return ''
  return `"id":${typeof id === 'number' ? id : JSON.stringify(id)},`
}
