import { describeRelease } from '#schemas/advisory.ts'
import type { BatchPoint } from '#schemas/batch.ts'
import type { ErrorBody } from '#schemas/common.ts'
import { POINT_DEFAULTS, type PointRequest } from '#schemas/point-request.ts'
import { isStale, type ProductDefinition, type Series } from '#schemas/products/define.ts'
import type { TileStoreName } from '#src/data/release-tables.ts'
import { overloaded } from '#src/http/plugins/overload.ts'
import { isoMonth, isoMonthNamed, monthAndYear } from '#src/lib/dates.ts'
import { memberTexts } from '#src/lib/json.ts'
import { wordKey } from '#src/lib/names.ts'
import { numberText } from '#src/lib/round.ts'
import { describeEntry, type EntryCertainty, figuresOfPoint, prepareCertainty } from './certainty.ts'
import {
  type InCoverage,
  type LayerValues,
  makeLabels,
  makeOutlookMembers,
  makeValueMembers,
  type ReleaseLabels,
} from './entries.ts'
import type { Band, Companion, Coverage, Layer, Position, Release } from './queries.ts'
import { AnswerTemplate, TemplatedAnswer } from './template.ts'

export type ReleaseMembers = Record<string, string | boolean | null>

export function makeReleaseMembers(release: ReleaseLabels): ReleaseMembers {
  const { forecastPeriod, stale = false } = release
  return describeRelease({
    ...release,
    forecastMonth: forecastPeriod && isoMonth(forecastPeriod),
    forecastName: forecastPeriod && monthAndYear(forecastPeriod),
    stale,
  })
}

export function makePointData(
  product: ProductDefinition,
  release: ReleaseLabels,
  values: LayerValues,
): Record<string, unknown> {
  return { ...makeReleaseMembers(release), ...makeValueMembers(product, release, values) }
}

export function describeLocation({ lat, lng, name = POINT_DEFAULTS.name }: PointRequest) {
  return { name, lat, lng, type: 'point' }
}

/** Writes the answers of a release as JSON. */
export interface ReleaseWriter {
  answered(point: BatchPoint, values: LayerValues): string
  without(point: BatchPoint, reason: ErrorBody): string
  /** The answer in the form of the history; undefined without a template. */
  templated(point: BatchPoint, values: LayerValues): TemplatedAnswer | undefined
  section(values: LayerValues): string
}

/** Begin of an answer without an id and a name. */
const PLAIN_LOCATION = `"location":{"name":${JSON.stringify(POINT_DEFAULTS.name)},"lat":`
const PLAIN_START = `{${PLAIN_LOCATION}`

/**
 * Items are answers of a point, behind their id. In a section the release is behind the entries: it may be absent.
 *
 * @param release null for one that does not answer
 */
export function itemWriter(
  product: ProductDefinition,
  release: ReleaseLabels | null,
  releaseMembers: ReleaseMembers,
): ReleaseWriter {
  const { entries, value } = product
  const { layers = [], certainty } = release ?? {}
  // The text of an entry before its value: one of fewer pieces is faster.
  const first = layers.map((layer) =>
    JSON.stringify({ ...makeLabels(product, layer), [value.key]: 0 }).slice(0, -2),
  )
  const further = first.map((fragment) => `},${fragment}`)
  const members = memberTexts(releaseMembers)
  const afterLng = `,"type":"point"},${members.map((member) => `${member},`).join('')}"${entries}":`
  const afterLngWithValues = `${afterLng}[`
  const sectionStart = `{"${entries}":[`
  const sectionMembers = members.join()
  const start = ({ id, name, lat, lng }: BatchPoint, after: string) =>
    `${id === undefined && name === undefined ? PLAIN_START : namedStart(id, name)}${numberText(lat)},"lng":${numberText(lng)}${after}`
  const findTemplate = createTemplates()
  /** Entries and the members behind them, without the closing bracket. */
  function withEntries(before: string, values: LayerValues): string {
    let text = before
    let fragments = first
    const figures = certainty && figuresOfPoint(values)
    for (let index = 0; index < layers.length; index++) {
      const found = values[index] as number
      if (Number.isNaN(found)) continue
      text += `${fragments[index]}${numberText(found)}`
      if (figures) text += entryText(describeEntry(certainty, index, figures))
      fragments = further
    }
    text += '}]'
    if (!figures) return text
    const outlook = makeOutlookMembers(product, release as ReleaseLabels, figures)
    for (const member of memberTexts(outlook)) text += `,${member}`
    return text
  }
  const open = (point: BatchPoint, values: LayerValues) =>
    withEntries(start(point, afterLngWithValues), values)
  return {
    answered: (point, values) => `${open(point, values)}}`,
    section: (values) => `${withEntries(sectionStart, values)},${sectionMembers}}`,
    templated(point, values) {
      const { name = POINT_DEFAULTS.name, lat, lng } = point
      let filling = `${JSON.stringify(name)}\n${numberText(lat)}\n${numberText(lng)}`
      if (certainty) {
        const text = `${withEntries(afterLngWithValues, values)}}`
        const pieces = text.split(NUMBERS)
        const template = findTemplate(pieces.join('\n'), () => pieces)
        if (!template) return undefined
        filling = [filling, ...(text.match(NUMBERS) ?? [])].join('\n')
        return new TemplatedAnswer(open(point, values), template, filling)
      }
      // Most often all layers have a value.
      const key = values.includes(Number.NaN)
        ? values.map((value) => (Number.isNaN(value) ? '-' : '+')).join('')
        : ''
      const template = findTemplate(key, () => {
        const known = values.flatMap((value, layer) => (Number.isNaN(value) ? [] : [layer]))
        const starts = known.map((layer, place) =>
          place === 0 ? afterLngWithValues + first[layer] : further[layer],
        )
        return [...(starts as string[]), '}]}']
      })
      if (!template) return undefined
      for (const value of values) if (!Number.isNaN(value)) filling += `\n${numberText(value)}`
      return new TemplatedAnswer(open(point, values), template, filling)
    },
    without: (point, reason) => `${start(point, afterLng)}null,${JSON.stringify(reason).slice(1)}`,
  }
}

/** The JSON of the members of an entry behind its value. */
function entryText({ probability, range, scenario_of }: EntryCertainty): string {
  let text = ''
  if (probability !== undefined) text += `,"probability":${numberText(probability)}`
  if (range) {
    const { low, high, level } = range
    text += `,"range":{"low":${numberText(low)},"high":${numberText(high)},"level":${level}}`
  }
  if (scenario_of !== undefined) text += `,"scenario_of":${JSON.stringify(scenario_of)}`
  return text
}

export function locationStart({ name, lat, lng }: Pick<BatchPoint, 'name' | 'lat' | 'lng'>): string {
  return `${name === undefined ? PLAIN_START : namedStart(undefined, name)}${numberText(lat)},"lng":${numberText(lng)},"type":"point"}`
}

/** Each template has a row in the database; beyond this number answers are stored whole. */
const MOST_TEMPLATES = 100

const TEMPLATE_START = ['{"location":{"name":', ',"lat":', ',"lng":']

/** The numbers of an answer as JSON. A label may have such a text, too: it is put together again. */
const NUMBERS = /(?<=":)-?\d[^,}\]]*/g

/** The templates of a release: one for each set of layers with values, or by the texts around the numbers. */
function createTemplates() {
  const templates = new Map<string, AnswerTemplate>()
  return (key: string, makePieces: () => string[]): AnswerTemplate | undefined => {
    const stored = templates.get(key)
    if (stored || templates.size >= MOST_TEMPLATES) return stored
    const template = new AnswerTemplate([...TEMPLATE_START, ...makePieces()])
    templates.set(key, template)
    return template
  }
}

function namedStart(id: string | number | undefined, name: string | undefined): string {
  const location = name === undefined ? PLAIN_LOCATION : `"location":{"name":${JSON.stringify(name)},"lat":`
  return `{${idMember(id)}${location}`
}

export function idMember(id: string | number | undefined): string {
  if (id === undefined) return ''
  return `"id":${typeof id === 'number' ? id : JSON.stringify(id)},`
}

export interface NumberedCoverage extends Coverage {
  tileColumns: number
  /** Key of the first tile; keys are unique in a process. */
  firstTile: number
}

/** A release with all parts of its answers but the pixels. */
export interface PublishedRelease extends Release, ReleaseLabels {
  writer: ReleaseWriter
  coverages: NumberedCoverage[]
  layers: InCoverage<Layer>[]
  companions: InCoverage<Companion>[]
  /** Not published: its tiles have a cache of their own. */
  archived?: true
}

/** Prepares releases for answers, with unique keys of tiles. */
export function createNumbering(): (release: Release, product: ProductDefinition) => PublishedRelease {
  let nextTile = 0

  function numbered(coverage: Coverage): NumberedCoverage {
    const tileColumns = Math.ceil(coverage.width / coverage.tileSize)
    const firstTile = nextTile
    nextTile += tileColumns * Math.ceil(coverage.height / coverage.tileSize)
    return { ...coverage, tileColumns, firstTile }
  }

  return (release, product) => {
    const inCoverage = <Of extends Band>(band: Of): InCoverage<Of> => ({
      ...band,
      coverage: release.coverages.findIndex(({ id }) => id === band.coverageId),
    })
    const known = {
      ...release,
      certainty: prepareCertainty(product, release),
      coverages: release.coverages.map(numbered),
      layers: release.layers.map(inCoverage),
      companions: release.companions.map(inCoverage),
    }
    return withAge({ ...known, writer: itemWriter(product, known, makeReleaseMembers(known)) }, product)
  }
}

/** A release with the present store of its tiles. */
export function withStore(release: PublishedRelease, store: TileStoreName): PublishedRelease {
  if (release.coverages.every((coverage) => coverage.store === store)) return release
  return { ...release, coverages: release.coverages.map((coverage) => ({ ...coverage, store })) }
}

/** A release whose answers say whether its season is over. */
export function withAge(
  release: PublishedRelease,
  product: ProductDefinition,
  stale = isStale(release, Date.now()),
): PublishedRelease {
  const { stale: before = false, ...timeless } = release
  if (stale === before) return release
  const aged = { ...timeless, ...(stale && { stale }) }
  return { ...aged, writer: itemWriter(product, aged, makeReleaseMembers(aged)) }
}

/** Version of the answers of a release: it never changes, but its season ends. */
export function versionOf({ code, stale }: Pick<ReleaseLabels, 'code' | 'stale'>): string {
  return stale ? `${code} stale` : code
}

export interface RequestedSeries extends Series {
  /** Code of a release; by default the published one answers. */
  release?: string | undefined
  /** Of a field, where the release has conditions. */
  condition?: string | undefined
}

/** The series of a request, with defaults and names in small letters. */
export function readSeries(
  { code: product, seasonal }: Pick<ProductDefinition, 'code' | 'seasonal'>,
  request: Pick<PointRequest, 'crop' | 'country_code' | 'forecast_period' | 'release' | 'condition'>,
): RequestedSeries {
  const { crop = POINT_DEFAULTS.crop, country_code = POINT_DEFAULTS.country_code, forecast_period } = request
  return {
    product,
    countryCode: country_code.trim().toLowerCase(),
    cropCode: seasonal ? wordKey(crop) : null,
    forecastPeriod: seasonal && forecast_period !== undefined ? firstDayOf(forecast_period) : null,
    release: request.release,
    condition: request.condition,
  }
}

export function positionOf({ lat, lng }: Pick<PointRequest, 'lat' | 'lng'>): Position {
  return { longitude: lng, latitude: lat }
}

/** ISO date of the first day of a month; the schema has checked the text. */
export function firstDayOf(period: string): string {
  return `${isoMonthNamed(period) ?? period.trim()}-01`
}

/** A release or its tiles were deleted or replaced during a read, which begins anew. */
export class ReplacedMeanwhile extends Error {
  override name = 'ReplacedMeanwhile'
  override message = 'what was being read has been replaced'
}

export const isReplaced = (error: unknown) => error instanceof ReplacedMeanwhile

/** @throws {ApiError} OVERLOADED where the release or the boundaries are being replaced */
export async function refuseIfReplaced<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw isReplaced(error) ? overloaded() : error
  }
}
