import { OperatorError } from '#src/errors.ts'
import type { FeatureFile, Noted } from './feature.ts'

export type GivenProperties = Partial<Record<keyof PropertyNames, string>>

export interface RecognizedProperties {
  names: PropertyNames
  /** Undefined for unknown sources. */
  source: PropertyLayout | undefined
}

/** The operator's word for parents found by overlap. */
const NO_PROPERTY = 'none'

/** @throws {OperatorError} lists the existing properties */
export function recognizeProperties(
  file: string,
  level: number,
  properties: Record<string, unknown>,
  given: GivenProperties,
): RecognizedProperties {
  const keys = Object.keys(properties)
  const layout = recognise(keys, level)
  const source = layout?.source
  const code = given.code ? [existing('code', given.code)] : layout?.names.code
  const name = given.name ? [existing('name', given.name)] : layout?.names.name
  const parent =
    given.parent === NO_PROPERTY
      ? []
      : given.parent
        ? [existing('parent', given.parent)]
        : (layout?.names.parent ?? [])
  // A country has a code and name of its own.
  if (level === 0) return { source, names: { code: code ?? [], name: name ?? [], parent: [] } }
  if (!code || !name) {
    const other = levelByCodes(properties)
    if (!given.code && other !== undefined && other !== level) throw otherLevel(file, other, level)
    const missing = [!code && '--code-property', !name && '--name-property'].filter(Boolean).join(' and ')
    throw new OperatorError(
      `Which properties of ${file} hold code and name cannot be guessed at level ${level}: give ${missing}. It has ${listed(keys)}.`,
    )
  }
  return { source, names: { code, name, parent } }

  function existing(what: string, requested: string): string {
    const key =
      keys.find((candidate) => candidate === requested) ??
      keys.find((candidate) => candidate.toLowerCase() === requested.toLowerCase())
    if (key) return key
    throw new OperatorError(
      `${file} has no property ${requested} (--${what}-property); it has ${listed(keys)}.`,
    )
  }
}

function listed(keys: string[]): string {
  return keys.length > 0 ? keys.join(', ') : 'no properties at all'
}

export function otherLevel(file: string, is: number, requested: number): OperatorError {
  return new OperatorError(`${file} holds areas of level ${is}, not of level ${requested}.`)
}

/** The lowest level with codes of any source, such as ADM2_PCODE or GID_2. */
function levelByCodes(properties: Record<string, unknown>): number | undefined {
  const levels = SOURCES.flatMap((source) =>
    source.level === 'codes' ? (findLevel(properties, source) ?? []) : [],
  )
  return levels.length > 0 ? Math.max(...levels) : undefined
}

export function findLevel(
  properties: Record<string, unknown>,
  source: PropertyLayout | undefined,
): number | undefined {
  if (source?.level === 'codes') {
    return lowestLevel(
      source,
      Object.keys(properties).filter((key) => readCode(properties, [key]) !== undefined),
    )
  }
  if (!source?.level) return undefined
  const said = readText(properties, spellings(properties, [source.level.property]))
  const digit = /^(?:adm)?([0-5])$/i.exec(said ?? '')?.[1]
  return digit === undefined ? undefined : Number(digit)
}

/** `certain`: an alpha-3 code or a name of a known source; other values may mean anything. */
export function findCountry(properties: Record<string, unknown>, source: PropertyLayout | undefined) {
  const codes = source?.countryCode ?? SOURCES.flatMap(({ countryCode }) => countryCode)
  const code = readCode(properties, spellings(properties, codes))
  if (code !== undefined) return { text: code, certain: source !== undefined && /^[a-z]{3}$/i.test(code) }
  const name = readText(properties, spellings(properties, source?.countryName ?? []))
  return name === undefined ? undefined : { text: name, certain: true }
}

/** In the spelling of the file. */
function spellings(properties: Record<string, unknown>, names: string[]): string[] {
  const keys = Object.keys(properties)
  return names.flatMap((name) => keys.filter((key) => key.toLowerCase() === name))
}

/** Publishers' words for no code. */
const NO_CODE = /^(?:none|null|<null>|nan|n\/a|-99|-)$/i

export function readCode(
  properties: Record<string, unknown>,
  names: string[],
  noCode?: string,
): string | undefined {
  const coded = names.filter((name) => {
    const text = readText(properties, [name])
    return text !== noCode && !NO_CODE.test(text ?? '')
  })
  return readText(properties, coded)
}

export function readText(properties: Record<string, unknown>, names: string[]): string | undefined {
  for (const name of names) {
    const value = properties[name]
    // A blank number column of a .dbf is NaN.
    if (typeof value !== 'string' && !Number.isFinite(value)) continue
    // PostgreSQL's text cannot hold NUL, which fixed-width files pad with.
    const text = String(value).replaceAll('\0', '').trim().normalize('NFC')
    if (text !== '') return text
  }
  return undefined
}

/** Candidates, the first one first. */
interface PropertyNames {
  /** None at level 0: the country's own code. */
  code: string[]
  name: string[]
  /** None: by overlap. */
  parent: string[]
}

/** In lower case. */
export interface PropertyLayout {
  name: string
  properties(level: number): PropertyNames
  countryCode: string[]
  noCode?: string
  countryName?: string[]
  /** By the lowest level with codes, or by a property; undefined if files of all levels look alike. */
  level?: 'codes' | { property: string }
}

const codPcodes = (
  pcode: (level: number) => string,
  names: (level: number) => string[],
  country: string,
): PropertyLayout => ({
  name: 'OCHA COD-AB',
  properties: (level) => ({ code: [pcode(level)], name: names(level), parent: [pcode(level - 1)] }),
  countryCode: [country],
  level: 'codes',
})

const COD_NAMES = ['_en', '_name', 'name_en', 'name', '_ref', '_fr']

/** The first match counts; docs/countries.md lists them. */
const SOURCES: PropertyLayout[] = [
  {
    name: 'this project',
    properties: () => ({ code: ['code'], name: ['name'], parent: ['parent_code'] }),
    countryCode: ['iso3'],
    level: { property: 'level' },
  },
  // Spellings since 2010: ADM2_PCODE, adm2_pcode, admin2Pcode.
  ...['_pcode', 'pcode'].flatMap((pcode) =>
    ['adm', 'admin'].map((admin) =>
      codPcodes(
        (level) => `${admin}${level}${pcode}`,
        (level) => COD_NAMES.map((name) => `${admin}${level}${name}`),
        `${admin}0${pcode}`,
      ),
    ),
  ),
  {
    name: 'geoBoundaries',
    // ISO 3166-2 codes exist for the first level only.
    properties: (level) => ({
      code: level <= 1 ? ['shapeiso', 'shapeid'] : ['shapeid'],
      name: ['shapename'],
      parent: [],
    }),
    countryCode: ['shapegroup'],
    level: { property: 'shapetype' },
  },
  {
    name: 'GADM 3.4 and later',
    properties: (level) => ({
      code: [`gid_${level}`],
      name: level === 0 ? ['country', 'name_0'] : [`name_${level}`],
      parent: [`gid_${level - 1}`],
    }),
    countryCode: ['gid_0'],
    level: 'codes',
  },
  {
    name: 'GADM 2',
    properties: (level) => ({
      code: level === 0 ? ['iso'] : [`id_${level}`],
      name: level === 0 ? ['name_0', 'name_engli'] : [`name_${level}`],
      parent: [`id_${level - 1}`],
    }),
    countryCode: ['iso'],
    level: 'codes',
  },
  {
    name: 'SALB',
    properties: (level) => ({
      code: level === 0 ? ['iso3cd'] : [`adm${level}cd`],
      name: [`adm${level}nm`],
      parent: [`adm${level - 1}cd`],
    }),
    countryCode: ['iso3cd'],
    level: 'codes',
  },
  {
    name: 'GAUL 2015',
    // Its numbers identify no country.
    properties: (level) => ({
      code: level === 0 ? [] : [`adm${level}_code`],
      name: [`adm${level}_name`],
      parent: [`adm${level - 1}_code`],
    }),
    countryCode: ['iso3'],
    countryName: ['adm0_name'],
    level: 'codes',
  },
  {
    name: 'GAUL 2024',
    properties: (level) => ({
      code: level === 0 ? ['iso3_code'] : [`gaul${level}_code`],
      name: [`gaul${level}_name`],
      parent: [`gaul${level - 1}_code`],
    }),
    countryCode: ['iso3_code'],
    level: 'codes',
  },
  {
    name: 'World Bank',
    properties: (level) => ({
      code: level === 0 ? ['iso_a3'] : [`adm${level}cd_c`],
      name: [`nam_${level}`],
      parent: [`adm${level - 1}cd_c`],
    }),
    countryCode: ['iso_a3'],
    level: 'codes',
  },
  {
    name: 'Natural Earth',
    // Its ISO 3166-2 codes repeat.
    properties: (level) => ({
      code: level === 0 ? ['adm0_a3'] : [`adm${level}_code`],
      name: level === 0 ? ['name', 'name_en', 'admin'] : ['name', 'name_en'],
      parent: [],
    }),
    countryCode: ['adm0_a3'],
    level: 'codes',
  },
  {
    name: 'IEBC (Kenya)',
    // Its file of counties has a constituency each, too.
    properties: (level) => ({
      code: level === 1 ? ['county_cod'] : level === 2 ? ['const_code'] : [],
      name: level === 1 ? ['county_nam'] : level === 2 ? ['constituen'] : [],
      parent: ['county_cod'],
    }),
    countryCode: [],
    // A shape without a constituency.
    noCode: '0',
  },
]

/** Publishers have more levels than are loaded. */
const LOWEST_LEVEL = 5

interface Layout {
  source: PropertyLayout
  names: PropertyNames
}

/** By the properties of a level. */
function recognise(keys: string[], level: number): Layout | undefined {
  for (const source of SOURCES) {
    const requested = source.properties(level)
    const names = spelledAs(keys, requested)
    const hasCode = names.code.length > 0 || requested.code.length === 0
    if (hasCode && names.name.length > 0) return { source, names }
  }
  return undefined
}

/** By the lowest level with codes. */
function recogniseAny(keys: string[]): Layout | undefined {
  for (let level = LOWEST_LEVEL; level >= 0; level--) {
    const layout = recognise(keys, level)
    if (layout) return layout
  }
  return undefined
}

function spelledAs(keys: string[], names: PropertyNames): PropertyNames {
  const spelling = new Map(keys.map((key) => [key.toLowerCase(), key]))
  const found = (requested: string[]) => requested.flatMap((name) => spelling.get(name) ?? [])
  return { code: found(names.code), name: found(names.name), parent: found(names.parent) }
}

function lowestLevel(source: PropertyLayout, keys: string[]): number | undefined {
  for (let level = LOWEST_LEVEL; level >= 0; level--) {
    if (spelledAs(keys, source.properties(level)).code.length > 0) return level
  }
  return undefined
}

interface InspectedColumn {
  name: string
  example: string | null
  blank: number
}

export interface BoundaryInspection {
  file: string
  features: number
  source: string | null
  level: number | null
  properties: PropertyNames | null
  columns: InspectedColumn[]
}

const MAX_COLUMNS = 1000
const EXAMPLE_CHARACTERS = 40

export async function inspectFile(file: FeatureFile, noted: Noted): Promise<BoundaryInspection> {
  const columns = new Map<string, { example: string | null; filled: number }>()
  let features = 0
  let first: Record<string, unknown> | undefined
  for await (const { properties } of file.features(noted)) {
    features++
    first ??= properties
    for (const name of Object.keys(properties)) {
      const column = columns.get(name) ?? { example: null, filled: 0 }
      if (columns.size < MAX_COLUMNS) columns.set(name, column)
      const text = readText(properties, [name])
      if (text === undefined) continue
      column.filled++
      column.example ??= text.slice(0, EXAMPLE_CHARACTERS)
    }
  }
  return {
    file: file.name,
    features,
    ...recognised(first ?? {}),
    columns: [...columns].map(([name, { example, filled }]) => ({ name, example, blank: features - filled })),
  }
}

function recognised(properties: Record<string, unknown>) {
  const keys = Object.keys(properties)
  const likely = recogniseAny(keys)
  if (!likely) return { source: null, level: null, properties: null }
  const level = findLevel(properties, likely.source)
  const layout = level === undefined ? likely : (recognise(keys, level) ?? likely)
  return { source: layout.source.name, level: level ?? null, properties: layout.names }
}
