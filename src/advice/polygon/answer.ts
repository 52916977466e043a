import type { AdvisedArea } from '#schemas/areas.ts'
import type { ErrorBody } from '#schemas/common.ts'
import { DHIS2, type Dhis2Mapping } from '#schemas/dhis2.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { QuantityFields, type QuantityRequest } from '#schemas/quantities.ts'
import { ApiError } from '#src/errors.ts'
import { type CsvValue, csvRow, FORMATS, type Format, type Items, type Writer } from '#src/http/formats.ts'
import { isoMonth } from '#src/lib/dates.ts'
import { quotient, times, toDecimal } from '#src/lib/decimal.ts'
import { closedWith, memberTexts, openText } from '#src/lib/json.ts'
import { round, roundDegrees, roundVisibly } from '#src/lib/round.ts'
import { makeSharedMembers, type SourceRelease } from '#src/lookup/places.ts'
import type { LayerLabel, Position, ReleaseLabels } from '#src/lookup/queries.ts'
import {
  makeLabels,
  makeReleaseMembers,
  nameColumn,
  type PublishedRelease,
  type ReleaseMembers,
} from '#src/lookup/releases.ts'
import type { DistributionOptions, Quantile } from '#src/raster/distribution.ts'
import { joinColumns, quantityColumns, writeFeature } from '../columns.ts'
import {
  computeQuantities,
  entriesWith,
  type QuantityResult,
  type QuantityRules,
} from '../quantities/compute.ts'
import { AREA_UNITS, asksForQuantities, type FieldArea } from '../quantities/plan.ts'
import type { LayerDistribution, LayerStatistics, LocatedStatistics, ZonalStatistics } from './queries.ts'

/** Decimals of hectares, totals and percentages: a square metre. */
const DECIMALS = 4

/** An area, or what it comes to on an area: of a small field, too. */
function roundArea(value: number): number {
  return roundVisibly(value, DECIMALS)
}

/** The keys of the numbers of a layer in an answer, in their order: quantiles and their errors come last. */
export function listStatisticKeys(
  { value, total }: ProductDefinition,
  wanted: DistributionOptions | null = null,
): string[] {
  return [
    ...[value.key, 'min', 'max', 'stddev', 'covered_percent'],
    ...(total ? [total.key] : []),
    ...(wanted?.quantiles ?? []).flatMap((part) => [`quantile_${part}`, `quantile_${part}_error`]),
  ]
}

/** The numbers of a layer in the order of their keys. Totals come from the unrounded mean. */
function computeFigures(
  { total }: ProductDefinition,
  layer: LayerLabel,
  { mean, minimum, maximum, deviation, covered, distribution }: LayerStatistics,
  areaHa: number,
): number[] {
  return [
    ...[mean, minimum, maximum, deviation].map((number) => round(number, layer.decimals)),
    roundArea(100 * covered),
    ...(total ? [roundArea(mean * areaHa * covered)] : []),
    ...roundQuantiles(layer, distribution).flatMap(({ value, error }) => [value, error]),
  ]
}

function roundQuantiles({ decimals }: LayerLabel, distribution: LayerDistribution | undefined): Quantile[] {
  return (distribution?.quantiles ?? []).map(({ quantile, value, error }) => ({
    quantile,
    value: round(value, decimals),
    error: roundUp(error, decimals),
  }))
}

/** Decimals of the percentages of a histogram. */
const PERCENT_DECIMALS = 4

function roundBins({ decimals }: LayerLabel, distribution: LayerDistribution | undefined): object[] {
  return (distribution?.histogram ?? []).map(({ from, to, share, error }) => ({
    from: round(from, decimals),
    to: round(to, decimals),
    percent: round(100 * share, PERCENT_DECIMALS),
    error: roundUp(100 * error, PERCENT_DECIMALS),
  }))
}

/** Rounds the bound of an error, never down. */
function roundUp(error: number, decimals: number): number {
  return round(Math.ceil(error * 10 ** decimals) / 10 ** decimals, decimals)
}

function distributionMembers(layer: LayerLabel, distribution: LayerDistribution | undefined) {
  const [quantiles, histogram] = [roundQuantiles(layer, distribution), roundBins(layer, distribution)]
  return {
    ...(quantiles.length > 0 && { quantiles }),
    ...(histogram.length > 0 && { histogram }),
  }
}

/** The entries of a polygon's answer, in the release's order, without layers that have no value. */
export function makeRegionEntries(
  product: ProductDefinition,
  release: ReleaseLabels,
  { areaHa, layers }: ZonalStatistics,
): Record<string, unknown>[] {
  const keys = listStatisticKeys(product)
  return release.layers.flatMap((layer, index) => {
    const found = layers[index]
    if (!found) return []
    const figures = computeFigures(product, layer, found, areaHa)
    return [
      {
        ...makeLabels(product, layer),
        ...Object.fromEntries(keys.map((key, at) => [key, figures[at]])),
        ...distributionMembers(layer, found.distribution),
      },
    ]
  })
}

/** JSON before each figure of each layer of a release: the same in all items. */
const figureStarts = new WeakMap<ReleaseLabels, string[][]>()

function listFigureStarts(product: ProductDefinition, release: ReleaseLabels): string[][] {
  const known = figureStarts.get(release)
  if (known) return known
  const keys = listStatisticKeys(product)
  const starts = release.layers.map((layer) => {
    const labels = memberTexts(makeLabels(product, layer)).map((label) => `${label},`)
    return keys.map((key, at) => `${at === 0 ? `{${labels.join('')}` : ','}${JSON.stringify(key)}:`)
  })
  figureStarts.set(release, starts)
  return starts
}

/** The JSON of {@link makeRegionEntries}: objects took half of the time of many small fields. */
function writeRegionEntries(
  product: ProductDefinition,
  release: ReleaseLabels,
  { areaHa, layers }: ZonalStatistics,
): string {
  const starts = listFigureStarts(product, release)
  let text = '['
  for (const [index, layer] of release.layers.entries()) {
    const found = layers[index]
    if (!found) continue
    const figures = computeFigures(product, layer, found, areaHa)
    if (text.length > 1) text += ','
    for (const [at, start] of (starts[index] as string[]).entries()) text += start + figures[at]
    if (found.distribution) {
      for (const member of memberTexts(distributionMembers(layer, found.distribution))) text += `,${member}`
    }
    text += '}'
  }
  return `${text}]`
}

export interface Advice {
  release: ReleaseLabels
  position: Position
  statistics: ZonalStatistics
  /** Undefined for a polygon. */
  admin?: AdvisedArea
}

export function adviceFrom(
  release: ReleaseLabels,
  { longitude, latitude, ...statistics }: LocatedStatistics,
): Advice {
  const position = { longitude: roundDegrees(longitude), latitude: roundDegrees(latitude) }
  return { release, position, statistics }
}

export function describeRegion(name: string | undefined, advice: Advice) {
  const { position, statistics, admin } = advice
  return {
    name: name ?? admin?.name ?? 'Polygon',
    lat: position.latitude,
    lng: position.longitude,
    type: 'polygon',
    area_ha: roundArea(statistics.areaHa),
    ...(admin && { admin }),
  }
}

export function hasValues({ statistics }: Advice): boolean {
  return statistics.layers.some((layer) => layer !== null)
}

export function listStatisticColumns(
  product: ProductDefinition,
  { layers }: ReleaseLabels,
  keys: string[],
): string[] {
  return layers.flatMap((layer) => keys.map((key) => nameColumn(product, layer, key)))
}

/** The cells of these columns; null where a layer has no value. */
export function readStatistics(
  product: ProductDefinition,
  { layers }: ReleaseLabels,
  keys: string[],
  { statistics }: Pick<Advice, 'statistics'>,
): (number | null)[] {
  return layers.flatMap((layer, index) => {
    const found = statistics.layers[index]
    if (!found) return keys.map(() => null)
    return computeFigures(product, layer, found, statistics.areaHa)
  })
}

/** Decimals of an area in another unit. */
const AREA_DECIMALS = 4

/** The quantities of the layers in a polygon: totals for the covered share, as in answers. */
function quantitiesIn(
  rules: QuantityRules,
  product: ProductDefinition,
  { layers }: ReleaseLabels,
  { areaHa, layers: statistics }: ZonalStatistics,
): QuantityResult {
  const amounts = statistics.map((layer) =>
    layer ? toDecimal(roundArea(layer.mean * areaHa * layer.covered)) : null,
  )
  return computeQuantities(rules, product, layers, amounts, areaIn(areaHa, rules.plan.unit))
}

/** The entries of a polygon's answer, with quantities where there are rules. */
export function makeRegionData(
  product: ProductDefinition,
  { release, statistics }: Pick<Advice, 'release' | 'statistics'>,
  rules: QuantityRules | null,
): Record<string, unknown> {
  const entries = makeRegionEntries(product, release, statistics)
  if (!rules) return { [product.entries]: entries }
  const figures = quantitiesIn(rules, product, release, statistics)
  return { [product.entries]: entriesWith(entries, figures), quantities: figures.quantities }
}

function areaIn(areaHa: number, unit: FieldArea['unit']): FieldArea {
  const hectares = toDecimal(roundArea(areaHa))
  if (unit === 'ha') return { value: hectares, unit, hectares }
  const metres = times(hectares, toDecimal(10_000))
  return { value: quotient(metres, AREA_UNITS[unit], AREA_DECIMALS, 'half away from zero'), unit, hectares }
}

export interface PolygonItem {
  id: string | number | undefined
  name: string | undefined
  members: ReleaseMembers
  /** The shape as GeoJSON, where the format has shapes. */
  geometry: string | null
  /** Null for an invalid polygon, and after a timeout. */
  advice: Advice | null
  reason: ErrorBody | null
}

interface PolygonAnswers {
  product: ProductDefinition
  sources: readonly SourceRelease[]
  /** The first release of the sources. */
  release: PublishedRelease
  distribution: DistributionOptions | null
  rules: QuantityRules | null
  /** Members of the whole answer beside those of the sources. */
  members: object
  mapping: Dhis2Mapping | undefined
}

/** The items of a call in all shapes, and the parts that data value sets need. */
interface PolygonItems extends Items<PolygonItem> {
  product: ProductDefinition
  release: PublishedRelease
  keys: string[]
  mapping: Dhis2Mapping | undefined
}

export function createPolygonItems(answers: PolygonAnswers): PolygonItems {
  const { product, sources, release, mapping, rules } = answers
  const keys = listStatisticKeys(product, answers.distribution)
  const memberNames = [...new Set(sources.flatMap(({ members }) => Object.keys(members)))]
  const figures = joinColumns<ZonalStatistics>(sources, (release) => {
    const quantities = rules && quantityColumns(rules, product, release)
    return {
      names: [...listStatisticColumns(product, release, keys), ...(quantities?.names ?? [])],
      cellsOf: (statistics) => [
        ...readStatistics(product, release, keys, { statistics }),
        ...(quantities && rules ? quantities.cellsOf(quantitiesIn(rules, product, release, statistics)) : []),
      ],
    }
  })
  const columns = ['id', 'name', 'lat', 'lng', 'area_ha', ...memberNames, ...figures.names, 'error', 'code']

  /** The cells of an item by their columns. */
  function listCells({ name, members, advice, reason }: PolygonItem): Record<string, CsvValue | undefined> {
    const { type: _, admin: __, ...place } = advice ? describeRegion(name, advice) : { name }
    return {
      ...place,
      ...(advice && { ...members, ...figures.readCells(advice.release, advice.statistics) }),
      ...(reason && { error: reason.error, code: reason.code }),
    }
  }

  return {
    product,
    release,
    keys,
    mapping,
    members: { ...makeSharedMembers(sources), ...answers.members },
    columns,
    object: ({ id, name, members, advice, reason }) => {
      if (advice && !reason && !rules) {
        const start = openText(JSON.stringify({ id, location: describeRegion(name, advice) }))
        const entries = writeRegionEntries(product, advice.release, advice.statistics)
        return closedWith(start, `${memberTexts(members).join()},"${product.entries}":${entries}`)
      }
      return JSON.stringify({
        id,
        ...(advice
          ? {
              location: describeRegion(name, advice),
              ...members,
              ...(reason ? { [product.entries]: null } : makeRegionData(product, advice, rules)),
            }
          : name !== undefined && { sent: { name } }),
        ...reason,
      })
    },
    feature: (item) => writeFeature(item.id, (item.advice && item.geometry) ?? 'null', listCells(item)),
    rows(item) {
      const cells: Record<string, CsvValue | undefined> = { ...listCells(item), id: item.id }
      return csvRow(columns.map((column) => cells[column] ?? null))
    },
  }
}

export interface PolygonFormat extends Omit<Format, 'write'> {
  write(items: PolygonItems): Writer<PolygonItem>
}

/** Data value sets of DHIS2, which have one release and a mapping of columns and places. */
export const DATA_VALUE_SET: PolygonFormat = {
  name: 'dhis2',
  mediaType: DHIS2,
  contentType: DHIS2,
  write: ({ product, release, keys, mapping }) => dataValueWriter(product, release, keys, mapping),
}

export const POLYGON_FORMATS: readonly PolygonFormat[] = [...FORMATS, DATA_VALUE_SET]

/** The error for quantities, which data value sets have no place for. */
export function refuseQuantities(request: QuantityRequest): ApiError {
  const fields = Object.keys(QuantityFields) as (keyof QuantityRequest)[]
  const field = fields.find((name) => asksForQuantities({ [name]: request[name] }))
  return ApiError.invalid(field as string, 'must be left out for DHIS2, whose values are those of rasters')
}

/**
 * Writes a data value set, which DHIS2 reads as a stream: members, then the values, all of them texts. The places
 * without values come last, for people: DHIS2 does not read them.
 *
 * @throws {ApiError} INVALID_PARAMETERS for a missing mapping, an unknown column, a missing period, or a repeated
 *   name, of which DHIS2 would keep the last value
 */
function dataValueWriter(
  product: ProductDefinition,
  release: ReleaseLabels,
  keys: string[],
  mapping: Dhis2Mapping | undefined,
): Writer<PolygonItem> {
  if (!mapping) throw ApiError.invalid('dhis2', 'must be sent for this form, in a JSON body')
  refuseRepeated(mapping)
  const { org_units, data_set, attribute_option_combo } = mapping
  const elements = findElements(mapping, listStatisticColumns(product, release, keys))
  const period = mapping.period ?? formatPeriod(product, release)
  const units = org_units && new Map(org_units.map(({ id, org_unit }) => [id, org_unit]))
  const { crop, ...members } = makeReleaseMembers(release)
  const head = JSON.stringify({
    ...members,
    ...(crop !== null && { crop }),
    ...(data_set && { dataSet: data_set }),
    ...(!units && { orgUnitIdScheme: 'CODE' }),
  })
  /** The items without values, and the reasons. */
  const leftOut: object[] = []
  let separator = ''

  function formatValues({ id, advice, reason }: PolygonItem): string[] {
    if (!advice || reason) return leave(id, reason?.error ?? 'It has no value.', reason?.code)
    if (id === undefined) return leave(id, 'It has no id.')
    const orgUnit = units ? units.get(String(id)) : String(id)
    if (orgUnit === undefined) return leave(id, 'The mapping names no organisation unit for it.')
    const figures = readStatistics(product, release, keys, advice)
    const values = elements.flatMap(({ index, dataElement, categoryOptionCombo }) => {
      const figure = figures[index] ?? null
      if (figure === null) return []
      const where = { dataElement, period, orgUnit, categoryOptionCombo }
      const attributeOptionCombo = attribute_option_combo ?? undefined
      return [JSON.stringify({ ...where, attributeOptionCombo, value: String(figure) })]
    })
    return values.length > 0 ? values : leave(id, 'The columns of the mapping have no value there.')
  }

  function leave(id: PolygonItem['id'], error: string, code?: string): string[] {
    leftOut.push({ id, error, ...(code !== undefined && { code }) })
    return []
  }

  return {
    opening: `${head.slice(0, -1)},"dataValues":[`,
    separator: '',
    closing: () => `],"left_out":${JSON.stringify(leftOut)}}`,
    write(item) {
      const text = formatValues(item).join(',')
      if (text === '') return ''
      const written = separator + text
      separator = ','
      return written
    },
  }
}

function refuseRepeated({ data_elements, org_units }: Dhis2Mapping): void {
  const elements = data_elements.map((element) =>
    JSON.stringify([element.data_element, element.category_option_combo ?? null]),
  )
  refuseSecond('data_elements', 'data_element', elements)
  for (const field of ['id', 'org_unit'] as const) {
    const values = (org_units ?? []).map((unit) => unit[field])
    refuseSecond('org_units', field, values)
  }
}

function refuseSecond(list: keyof Dhis2Mapping, field: string, values: string[]): void {
  const rule = 'must be another one than those before it: one value would replace the other'
  const seen = new Set<string>()
  for (const [at, value] of values.entries()) {
    if (seen.has(value)) throw ApiError.invalid(`dhis2.${list}[${at}].${field}`, rule)
    seen.add(value)
  }
}

function findElements({ data_elements }: Dhis2Mapping, columns: string[]) {
  return data_elements.map(({ column, data_element, category_option_combo }, at) => {
    const index = columns.indexOf(column)
    if (index >= 0) {
      return { index, dataElement: data_element, categoryOptionCombo: category_option_combo ?? undefined }
    }
    const rule = 'must be a column of the answer as CSV'
    throw ApiError.invalid(`dhis2.data_elements[${at}].column`, rule, columns)
  })
}

function formatPeriod({ code }: ProductDefinition, { forecastPeriod }: ReleaseLabels): string {
  if (forecastPeriod !== null) return isoMonth(forecastPeriod).replace('-', '')
  throw ApiError.invalid('dhis2.period', `is required: ${code} has no month`)
}
