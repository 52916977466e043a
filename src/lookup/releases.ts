import type { BatchPoint, SentLabels } from '#schemas/batch.ts'
import type { ErrorBody } from '#schemas/common.ts'
import { POINT_DEFAULTS, type PointRequest } from '#schemas/point-request.ts'
import { isStale, type ProductDefinition, type Series } from '#schemas/products/define.ts'
import { AnswerTemplate, TemplatedAnswer } from '#src/history/queries.ts'
import { overloaded } from '#src/http/plugins/overload.ts'
import { isoMonth, isoMonthNamed, monthAndYear } from '#src/lib/dates.ts'
import { memberTexts } from '#src/lib/json.ts'
import { wordKey } from '#src/lib/names.ts'
import { numberText, round } from '#src/lib/round.ts'
import type { Coverage, Layer, LayerLabel, Position, Release, ReleaseLabels } from './queries.ts'

/** The pixel of each band as it is stored, NaN for none; no bands where nothing is stored. */
export type StoredPixels = number[]

/** Values in the order of a release's layers: in their unit, rounded to their decimals, NaN for none. */
export type LayerValues = number[]

/** A layer, and the place of its coverage among those of its release. */
export interface PlacedLayer extends Layer {
  coverage: number
}

/**
 * Values from the pixels of a release's coverages; null where no layer has one. A number that leaves the
 * range of doubles is none.
 */
export function valuesOf(layers: PlacedLayer[], pixels: StoredPixels[]): LayerValues | null {
  const values: LayerValues = []
  let any = false
  for (const { coverage, band, scale, offset, decimals } of layers) {
    const value = (pixels[coverage]?.[band - 1] ?? Number.NaN) * scale + offset
    const known = Number.isFinite(value)
    any ||= known
    values.push(known ? round(value, decimals) : Number.NaN)
  }
  return any ? values : null
}

/** An entry of an answer: what says which layer it is of, then its value. */
export type Entry = Record<string, string | number | null>

/** A new entry that says which layer it is of. Assigning takes a fifth of the time that spreading does. */
export function labelsOf({ input, seasonal }: ProductDefinition, layer: LayerLabel): Entry {
  const labels: Entry = {}
  if (input) labels[input.key] = layer.input
  if (seasonal) labels.scenario = layer.scenario
  return labels
}

/** The column of a table with a number of a layer: its key, which says the unit, and what tells the layer from others. */
export function columnOf(product: ProductDefinition, layer: LayerLabel, key: string): string {
  return [key, ...Object.values(labelsOf(product, layer)).filter((label) => label !== null)].join(' ')
}

/** The entries of a point's answer, in the release's order; layers without a value are left out. */
function entriesOf(product: ProductDefinition, release: ReleaseLabels, values: LayerValues): Entry[] {
  const { key } = product.value
  return release.layers.flatMap((layer, index) => {
    const value = values[index] as number
    if (Number.isNaN(value)) return []
    const entry = labelsOf(product, layer)
    entry[key] = value
    return [entry]
  })
}

/** What an answer says of its release, as JSON and as cells of a table. */
export type ReleaseMembers = Record<string, string | boolean | null>

/** What every answer says of its release beside the entries: country, crop, month where it has one, and what it is. */
export function releaseMembers(release: ReleaseLabels): ReleaseMembers {
  const { code, countryCode, cropCode, forecastPeriod, synthetic, stale } = release
  return {
    country_code: countryCode,
    crop: cropCode,
    ...(forecastPeriod !== null && {
      forecast_period: monthAndYear(forecastPeriod),
      forecast_month: isoMonth(forecastPeriod),
    }),
    release: code,
    synthetic,
    ...(stale && { stale }),
  }
}

/** What a release says of a point, as every answer has it. */
export function dataOf(
  product: ProductDefinition,
  release: ReleaseLabels,
  values: LayerValues,
): Record<string, unknown> {
  return {
    ...releaseMembers(release),
    [product.entries]: entriesOf(product, release, values),
  }
}

/** The location of a point's answer. */
export function locationOf({ lat, lng, name = POINT_DEFAULTS.name }: PointRequest) {
  return { name, lat, lng, type: 'point' }
}

/** A point that cannot be answered for, and why. */
interface UnansweredPoint {
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
interface ReleaseWriter extends ItemWriter {
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

/** A coverage with what the tiles of it are numbered from: no two tiles of a process have one number. */
export interface NumberedCoverage extends Coverage {
  tileColumns: number
  firstTile: number
}

/** A release as it answers: all that an answer takes but the pixels. */
export interface PublishedRelease extends Release {
  /** Writes its answers to points. */
  writer: ReleaseWriter
  coverages: NumberedCoverage[]
  layers: PlacedLayer[]
  /** Whether it is none of those that are published: its pixels are read and kept apart from theirs. */
  archived?: true
}

/** Makes what turns releases into such that answer. It numbers their tiles, each once. */
export function createNumbering(): (release: Release, product: ProductDefinition) => PublishedRelease {
  let nextTile = 0

  function numbered(coverage: Coverage): NumberedCoverage {
    const tileColumns = Math.ceil(coverage.width / coverage.tileSize)
    const firstTile = nextTile
    nextTile += tileColumns * Math.ceil(coverage.height / coverage.tileSize)
    return { ...coverage, tileColumns, firstTile }
  }

  return (release, product) => {
    const aged = withAge(release)
    return {
      ...aged,
      writer: writerOf(product, aged),
      coverages: release.coverages.map(numbered),
      layers: release.layers.map((layer) => ({
        ...layer,
        coverage: release.coverages.findIndex(({ id }) => id === layer.coverageId),
      })),
    }
  }
}

/**
 * A release with its tiles where they are now: they may have been moved, and are the same.
 *
 * @param inFiles the ids of the releases whose tiles are in files
 */
export function placedIn(release: PublishedRelease, inFiles: number[]): PublishedRelease {
  const store = inFiles.includes(release.id) ? 'files' : 'postgis'
  if (release.coverages.every((coverage) => coverage.store === store)) return release
  return { ...release, coverages: release.coverages.map((coverage) => ({ ...coverage, store })) }
}

/** A release as it answers now: anew where its season has ended since. */
export function renewed(release: PublishedRelease, product: ProductDefinition): PublishedRelease {
  if (isStale(release, Date.now()) === (release.stale ?? false)) return release
  const aged = withAge(release)
  return { ...aged, writer: writerOf(product, aged) }
}

/** A release that never says that its season is over. */
export function withoutAge(release: PublishedRelease, product: ProductDefinition): PublishedRelease {
  const { stale, ...timeless } = release
  return stale ? { ...timeless, writer: writerOf(product, timeless) } : release
}

function writerOf(product: ProductDefinition, release: Release): ReleaseWriter {
  return itemWriter(product, release.layers, releaseMembers(release))
}

function withAge<Aged extends Release>({ stale: _, ...release }: Aged) {
  return { ...release, ...(isStale(release, Date.now()) && { stale: true }) }
}

/** What tells an answer of a release from others of it: the content of a release never changes, but its season ends. */
export function versionOf({ code, stale }: Pick<Release, 'code' | 'stale'>): string {
  return stale ? `${code} stale` : code
}

/** What a request asks for: a series, or a release of it. */
export interface RequestedSeries extends Series {
  /** The code of the release that alone may answer; left out where the one that is published does. */
  release?: string | undefined
}

/** What a request asks for, wherever: names without regard to case, defaults filled in. */
export function seriesOf(
  { code: product, seasonal }: Pick<ProductDefinition, 'code' | 'seasonal'>,
  request: Pick<PointRequest, 'crop' | 'country_code' | 'forecast_period' | 'release'>,
): RequestedSeries {
  const { crop = POINT_DEFAULTS.crop, country_code = POINT_DEFAULTS.country_code, forecast_period } = request
  return {
    product,
    countryCode: country_code.trim().toLowerCase(),
    cropCode: seasonal ? wordKey(crop) : null,
    forecastPeriod: seasonal && forecast_period !== undefined ? firstDayOf(forecast_period) : null,
    release: request.release,
  }
}

/** Where a request asks for it. */
export function positionOf({ lat, lng }: Pick<PointRequest, 'lat' | 'lng'>): Position {
  return { longitude: lng, latitude: lat }
}

/** The first day of the month that a request names, as an ISO date; the schema has found it to be one. */
export function firstDayOf(period: string): string {
  return `${isoMonthNamed(period) ?? period.trim()}-01`
}

/**
 * What was being read has been deleted or replaced since it was found: something else has taken its place.
 * Whoever reads begins anew.
 */
export class ReplacedMeanwhile extends Error {
  override name = 'ReplacedMeanwhile'

  constructor() {
    super('what was being read has been replaced')
  }
}

/**
 * Does work in a release and boundaries that are known to be there.
 *
 * @throws {ApiError} OVERLOADED where they are being replaced: soon it will be known by what
 */
export async function retryIfReplaced<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ReplacedMeanwhile) throw overloaded()
    throw error
  }
}
