import { type Static, Type } from 'typebox'
import type { CompanionRole, Conditions } from '#schemas/certainty.ts'
import { ODDS_TOLERANCE, RESTATING_SCENARIOS, SEASONS } from '#schemas/glossary.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { wordKey } from '#src/lib/names.ts'
import { PROBABILITY_DECIMALS } from '#src/lookup/certainty.ts'
import { EVERY_CONDITION } from '#src/lookup/conditions.ts'

/** The parts of a manifest about layers: odds, ranges and conditions. */

/** WKT has one or two thousand characters. */
const MAX_CRS_LENGTH = 20_000

/** Names with `*` may find more. */
const MAX_FILES = 256

export const BAND = {
  file: Type.Optional(Type.String({ minLength: 1 })),
  files: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: MAX_FILES })),
  band: Type.Optional(Type.Union([Type.Integer({ minimum: 1 }), Type.String()])),
  scale: Type.Optional(Type.Number()),
  offset: Type.Optional(Type.Number()),
  nodata: Type.Optional(Type.Union([Type.Number(), Type.Literal('nan'), Type.Literal('none')])),
  mask: Type.Optional(Type.Literal('none')),
  srid: Type.Optional(Type.Integer({ minimum: 1 })),
  srs: Type.Optional(Type.String({ minLength: 1, maxLength: MAX_CRS_LENGTH })),
}

const Band = Type.Object(BAND, { additionalProperties: false })
type BandEntry = Static<typeof Band>

const ProbabilityBand = Type.Object(
  { ...BAND, unit: Type.Optional(Type.Enum(['1', '%'])) },
  { additionalProperties: false },
)

const Level = Type.Number({ exclusiveMinimum: 0, exclusiveMaximum: 1 })

export const Label = Type.String({ minLength: 1, maxLength: 100, pattern: '^\\S(.*\\S)?$' })

/** Members of a layer about how sure it is, and which fields it is for. */
export const LAYER_MEMBERS = {
  condition: Type.Optional(Label),
  // Keywords of both types stand side by side: an alternative would report the errors of each.
  probability: Type.Optional(
    Type.Unsafe<number | Static<typeof ProbabilityBand>>({
      ...ProbabilityBand,
      type: ['number', 'object'],
      minimum: 0,
      maximum: 1,
    }),
  ),
  low: Type.Optional(Band),
  high: Type.Optional(Band),
  stddev: Type.Optional(Band),
  range: Type.Optional(Type.Array(Level, { minItems: 2, maxItems: 2 })),
}

type LayerMembers = {
  [Name in keyof typeof LAYER_MEMBERS]?: Static<(typeof LAYER_MEMBERS)[Name]>
}

/** A text message names them all. */
const MOST_CONDITIONS = 9

/** Conditions of a release: titles by name, in the order of the answers. */
export const ConditionsEntry = Type.Object(
  {
    question: Type.String({ minLength: 1, maxLength: 100, pattern: '^\\S(.*\\S)?$' }),
    titles: Type.Unsafe<Record<string, string>>({
      type: 'object',
      minProperties: 2,
      maxProperties: MOST_CONDITIONS,
      propertyNames: Label,
      additionalProperties: Label,
    }),
    default: Type.Optional(Label),
    raster: Type.Optional(
      Type.Object(
        {
          ...BAND,
          codes: Type.Unsafe<Record<string, string>>({ type: 'object', additionalProperties: Label }),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
)
type ConditionsEntry = Static<typeof ConditionsEntry>

export interface Problem {
  path: (string | number)[]
  message: string
}

type LabelledLayer = BandEntry &
  LayerMembers & { input?: string; scenario?: string; unit: string; decimals?: number; line?: number }

/** The quantiles of a range whose layer does not say otherwise. */
const USUAL_RANGE = [0.1, 0.9] as const

/** Decimals of bands about layers, where they are not those of the layer. Spreads are multiplied before rounding. */
export const COMPANION_DECIMALS: Partial<Record<CompanionRole, number>> = {
  probability: PROBABILITY_DECIMALS,
  stddev: 10,
  landscape: 0,
  share: 6,
}

/** The default of a release whose landscape raster knows all pixels with values. */
const FROM_RASTER = 'from raster'

/** A band about layers, as an entry of a manifest. */
type CompanionEntry = BandEntry & {
  role: CompanionRole
  decimals?: number
  input?: string
  scenario?: string
  condition?: string
  unit: string
  line?: number
}

/** The bands about layers: where one has no file, it lies in that of its layer, with the same scale. */
export function listCompanions(
  layers: readonly LabelledLayer[],
  conditions: ConditionsEntry | undefined,
): CompanionEntry[] {
  const ofLayers = layers.flatMap((layer): CompanionEntry[] => {
    const { input, scenario, condition, line, unit, scale, offset, decimals } = layer
    return (['low', 'high', 'stddev'] as const).flatMap((role): CompanionEntry[] => {
      const band = layer[role]
      if (!band) return []
      // A spread has no offset, and is not rounded.
      const meaning = role === 'stddev' ? { scale } : { scale, offset, decimals }
      return [{ role, input, scenario, condition, line, unit, ...meaning, ...placeBand(layer, band) }]
    })
  })
  const odds = new Map<string, CompanionEntry>()
  for (const layer of layers) {
    const { scenario, probability, line } = layer
    if (scenario === undefined || typeof probability !== 'object' || odds.has(scenario)) continue
    odds.set(scenario, { role: 'probability', scenario, line, unit: '1', ...placeBand(layer, probability) })
  }
  const { codes: _, ...landscape } = conditions?.raster ?? { codes: {} }
  return [
    ...ofLayers,
    ...odds.values(),
    ...(conditions?.raster ? [{ role: 'landscape' as const, unit: '1', ...landscape }] : []),
  ]
}

/** With its file. */
function placeBand<Entry extends BandEntry>(layer: BandEntry, entry: Entry): Entry {
  if (hasFile(entry)) return entry
  const { file, files, srid, srs, nodata, mask } = layer
  const own = { file, files, srid, srs, nodata, mask }
  const stated = Object.entries(own).filter(([, value]) => value !== undefined)
  return { ...Object.fromEntries(stated), ...entry }
}

function hasFile({ file, files }: BandEntry): boolean {
  return file !== undefined || files !== undefined
}

/** The attributes of a layer that have no band. */
export function readAttributes(
  layer: LabelledLayer,
  layers: readonly LabelledLayer[],
): { probability?: number; range?: readonly [number, number] } {
  const { low, stddev, range } = layer
  const [from, to] = range ?? USUAL_RANGE
  const found = layers.find(
    ({ scenario, probability }) => scenario === layer.scenario && probability !== undefined,
  )
  const probability = found?.probability
  return {
    ...(typeof probability === 'number' && { probability }),
    ...((low || stddev) && { range: [from as number, to as number] as const }),
  }
}

/** Conditions as the database has them; null without any. */
export function describeConditions(entry: ConditionsEntry | undefined): Conditions | null {
  if (!entry) return null
  const list = Object.entries(entry.titles).map(([condition, title]) => ({ condition, title }))
  const codes = entry.raster?.codes
  const named = entry.default === FROM_RASTER ? undefined : entry.default
  return {
    question: entry.question,
    list,
    ...(codes && { codes }),
    ...(named !== undefined && { default: named }),
  }
}

/** The problems of odds, ranges and conditions that no schema finds. */
export function findProblemsOfCompanions(
  { seasonal, code }: ProductDefinition,
  layers: readonly LabelledLayer[],
  conditions: ConditionsEntry | undefined,
): Problem[] {
  return [
    ...layers.flatMap((layer, index) => findInLayer(layer, ['layers', index], conditions)),
    ...findInOdds(layers, seasonal ? undefined : code),
    ...(conditions ? findInConditions(layers, conditions) : []),
  ]
}

function findInLayer(
  { condition, low, high, stddev, range, probability }: LabelledLayer,
  at: (string | number)[],
  conditions: ConditionsEntry | undefined,
): Problem[] {
  const problems: Problem[] = []
  const says = (key: string, isWrong: boolean, message: string) => {
    if (isWrong) problems.push({ path: [...at, key], message })
  }
  const listed = Object.keys(conditions?.titles ?? {})
  const oneOf = listed.length > 0 && `must be one of ${listed.join(', ')}`
  const isUnknown = condition !== undefined && !listed.includes(condition)
  says('condition', isUnknown, oneOf || 'is not allowed: the manifest has no conditions')
  for (const [key, band] of Object.entries({ low, high, stddev, probability })) {
    const isNowhere = typeof band === 'object' && !hasFile(band) && band.band === undefined
    says(key, isNowhere, "needs a file, or the band of the layer's file")
  }
  says('low', low === undefined && high !== undefined, 'is missing: the layer has a high')
  says('high', high === undefined && low !== undefined, 'is missing: the layer has a low')
  says('stddev', stddev !== undefined && low !== undefined, 'is not allowed: low and high say it already')
  if (range === undefined) return problems
  const [from, to] = range as [number, number]
  says('range', !low && !stddev, 'is not allowed: the layer has no low, high or stddev')
  says('range', from >= to, 'must be in ascending order')
  const isOneSided = from >= 0.5 || to <= 0.5
  says('range', stddev !== undefined && isOneSided, 'must be below and above 0.5: the value is the mean')
  return problems
}

function findInOdds(layers: readonly LabelledLayer[], withoutSeasons: string | undefined): Problem[] {
  const problems: Problem[] = []
  const given = new Map<string, { index: number; text: string; probability: LayerMembers['probability'] }>()
  layers.forEach((layer, index) => {
    const { scenario, probability } = layer
    if (probability === undefined) return
    const path = ['layers', index, 'probability']
    if (scenario === undefined) {
      problems.push({ path, message: `is not allowed: ${withoutSeasons ?? 'the layer'} has no scenario` })
      return
    }
    if (RESTATING_SCENARIOS.includes(scenario)) {
      problems.push({ path, message: `is not allowed: ${scenario} restates another scenario` })
      return
    }
    const isBand = typeof probability === 'object'
    const text = JSON.stringify(isBand ? { band: 1, ...placeBand(layer, probability) } : probability)
    const first = given.get(scenario)
    if (!first) given.set(scenario, { index, text, probability })
    else if (first.text !== text) {
      problems.push({
        path,
        message: `differs from that of layers[${first.index}], which is for ${scenario} too`,
      })
    }
  })
  const odds = SEASONS.map((scenario) => given.get(scenario)?.probability)
  if (odds.every((one) => typeof one === 'number')) {
    const sum = odds.reduce((total, one) => total + one, 0)
    if (Math.abs(sum - 1) > ODDS_TOLERANCE + Number.EPSILON) {
      const { index } = given.get(SEASONS[0] as string) as { index: number }
      const message = `must sum to 1 over ${SEASONS.join(', ')}, and sums to ${Number(sum.toFixed(6))}`
      problems.push({ path: ['layers', index, 'probability'], message })
    }
  }
  return problems
}

function nameLabels(layer: LabelledLayer | undefined): string {
  return [layer?.input, layer?.scenario].filter(Boolean).join(', ') || 'the same'
}

const isOfPair = (one: LabelledLayer, other: LabelledLayer) =>
  one.input === other.input && one.scenario === other.scenario

function findInConditions(layers: readonly LabelledLayer[], entry: ConditionsEntry): Problem[] {
  const { titles, raster } = entry
  const problems: Problem[] = []
  const says = (path: string[], isWrong: boolean, message: string) => {
    if (isWrong) problems.push({ path: ['conditions', ...path], message })
  }
  const names = Object.keys(titles)
  const conditioned = layers.filter(({ condition }) => condition !== undefined)
  const isFor = (name: string, layer: LabelledLayer) =>
    conditioned.some((one) => one.condition === name && isOfPair(one, layer))
  const unused = names.filter((name) => !conditioned.some(({ condition }) => condition === name))
  // Else places would have no entry for the input and scenario.
  const lacking = conditioned.flatMap((layer) =>
    names.flatMap((name) =>
      isFor(name, layer) ? [] : `${name}, for which ${nameLabels(layer)} has no layer`,
    ),
  )
  const [wrong] = unused.length > 0 ? [`${unused.join(', ')}, which no layer is for`] : lacking
  says(['titles'], wrong !== undefined, `names ${wrong}`)
  // Requests name a condition or its title, in any case.
  const keys = Object.entries(titles).flatMap(([name, title]) => [...new Set([name, title].map(wordKey))])
  const reserved = `must not have ${EVERY_CONDITION}, with which requests ask for every condition`
  says(['titles'], keys.includes(EVERY_CONDITION), reserved)
  const shadowed = layers.find(
    (layer) => layer.condition === undefined && conditioned.some((one) => isOfPair(one, layer)),
  )
  const rule = `name conditions of ${nameLabels(shadowed)}, which a layer without a condition is for too`
  says(['titles'], shadowed !== undefined, rule)
  // Numbers would come first, in their own order.
  for (const name of names) says(['titles', name], /^\d+$/.test(name), 'must not be a number')
  const twice = keys.find((key, at) => keys.indexOf(key) !== at)
  says(['titles'], twice !== undefined, `has ${twice} twice`)
  const ofAll = `name the condition of the main answer, as in "conditions.default: ${names[0]}"`
  says(['default'], entry.default === undefined && !raster, `is missing: ${ofAll}`)
  says(['default'], entry.default === FROM_RASTER && !raster, `needs a raster, or ${ofAll}`)
  const isNamed = entry.default !== undefined && entry.default !== FROM_RASTER
  says(['default'], isNamed && !names.includes(entry.default as string), `must be one of ${names.join(', ')}`)
  if (!raster) return problems
  says(['raster', 'file'], raster.file === undefined && raster.files === undefined, 'is missing')
  for (const [code, name] of Object.entries(raster.codes)) {
    const path = ['raster', 'codes', code]
    says(path, !/^(0|-?[1-9]\d{0,8})$/.test(code), 'must be the whole number of a pixel')
    says(path, !names.includes(name), `must be one of ${names.join(', ')}`)
  }
  return problems
}
