import { OperatorError } from '#src/errors.ts'
import { cleanName } from '#src/lib/text.ts'
import type { FeatureFile, Noted } from './feature.ts'

export type GivenProperties = Partial<Record<keyof PropertyNames, string>>

export interface RecognizedProperties {
  names: PropertyNames
  source: PropertyLayout | undefined
}

/** The operator's word for parents found by overlap. */
const NO_PROPERTY = 'none'

export function recognizeProperties(
  file: string,
  level: number,
  properties: Record<string, unknown>,
  given: GivenProperties,
): RecognizedProperties {
  const keys = Object.keys(properties)
  const layout = recognise(keys, level)
  const source = layout?.source
  const choose = (role: keyof PropertyNames) =>
    given[role] ? [existing(role, given[role])] : layout?.names[role]
  const [code, name] = [choose('code'), choose('name')]
  const parent = given.parent === NO_PROPERTY ? [] : (choose('parent') ?? [])
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
    const alike = keys.filter((candidate) => candidate.toLowerCase() === requested.toLowerCase())
    const key = alike.includes(requested) ? requested : alike[0]
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
    const coded = Object.keys(properties).filter((key) => readCode(properties, [key]) !== undefined)
    return LEVELS.find((level) => spelledAs(coded, source.properties(level)).code.length > 0)
  }
  if (!source?.level) return undefined
  const said = readText(properties, spellings(properties, [source.level.property]))
  const digit = /^(?:adm)?([0-5])$/i.exec(said ?? '')?.[1]
  return digit === undefined ? undefined : Number(digit)
}

/** `certain`: an alpha-3 code or a name of a listed source; other values may mean anything. */
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
    const text = cleanName(String(value))
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

/** Properties in lower case, with blanks between candidates: `#` is the level, `^` the level above. */
type SourceRow = [
  name: string,
  countryCode: string,
  code: string,
  areaName: string,
  parent: string,
  rest?: Pick<PropertyLayout, 'noCode' | 'countryName' | 'level'> & {
    codes?: Record<number, string>
    names?: Record<number, string>
  },
]

const COD_NAMES = '_en _name name_en name _ref _fr'

/** The first match counts; docs/countries.md lists them. */
const ROWS: SourceRow[] = [
  ['this project', 'iso3', 'code', 'name', 'parent_code', { level: { property: 'level' } }],
  // Spellings since 2010: ADM2_PCODE, adm2_pcode, admin2Pcode.
  ...['_pcode', 'pcode'].flatMap((pcode) =>
    ['adm', 'admin'].map((admin): SourceRow => {
      const names = COD_NAMES.replaceAll(/(?<!\S)/g, `${admin}#`)
      return ['OCHA COD-AB', `${admin}0${pcode}`, `${admin}#${pcode}`, names, `${admin}^${pcode}`]
    }),
  ),
  [
    'geoBoundaries',
    'shapegroup',
    'shapeid',
    'shapename',
    '',
    // ISO 3166-2 codes exist for the first level only.
    { codes: { 0: 'shapeiso shapeid', 1: 'shapeiso shapeid' }, level: { property: 'shapetype' } },
  ],
  ['GADM 3.4 and later', 'gid_0', 'gid_#', 'name_#', 'gid_^', { names: { 0: 'country name_0' } }],
  ['GADM 2', 'iso', 'id_#', 'name_#', 'id_^', { codes: { 0: 'iso' }, names: { 0: 'name_0 name_engli' } }],
  ['SALB', 'iso3cd', 'adm#cd', 'adm#nm', 'adm^cd', { codes: { 0: 'iso3cd' } }],
  // Its numbers identify no country.
  [
    'GAUL 2015',
    'iso3',
    'adm#_code',
    'adm#_name',
    'adm^_code',
    { codes: { 0: '' }, countryName: ['adm0_name'] },
  ],
  ['GAUL 2024', 'iso3_code', 'gaul#_code', 'gaul#_name', 'gaul^_code', { codes: { 0: 'iso3_code' } }],
  ['World Bank', 'iso_a3', 'adm#cd_c', 'nam_#', 'adm^cd_c', { codes: { 0: 'iso_a3' } }],
  // Its ISO 3166-2 codes repeat.
  [
    'Natural Earth',
    'adm0_a3',
    'adm#_code',
    'name name_en',
    '',
    { codes: { 0: 'adm0_a3' }, names: { 0: 'name name_en admin' } },
  ],
  [
    'IEBC (Kenya)',
    '',
    '',
    '',
    'county_cod',
    {
      // Its file of counties has a constituency each, too.
      codes: { 1: 'county_cod', 2: 'const_code' },
      names: { 1: 'county_nam', 2: 'constituen' },
      // A shape without a constituency.
      noCode: '0',
      level: undefined,
    },
  ],
]

const SOURCES = ROWS.map(([name, countryCode, code, areaName, parent, rest = {}]): PropertyLayout => {
  const { codes = {}, names = {}, ...more } = rest
  return {
    name,
    countryCode: countryCode.split(' ').filter(Boolean),
    level: 'codes',
    ...more,
    properties(level) {
      const list = (pattern: string) =>
        pattern
          .replaceAll('#', `${level}`)
          .replaceAll('^', `${level - 1}`)
          .split(' ')
          .filter(Boolean)
      return { code: list(codes[level] ?? code), name: list(names[level] ?? areaName), parent: list(parent) }
    },
  }
})

/** From the lowest: publishers have more levels than are loaded. */
const LEVELS = [5, 4, 3, 2, 1, 0]

function recognise(keys: string[], level: number) {
  for (const source of SOURCES) {
    const requested = source.properties(level)
    const names = spelledAs(keys, requested)
    const hasCode = names.code.length > 0 || requested.code.length === 0
    if (hasCode && names.name.length > 0) return { source, names }
  }
  return undefined
}

function spelledAs(keys: string[], names: PropertyNames): PropertyNames {
  const spelling = new Map(keys.map((key) => [key.toLowerCase(), key]))
  const found = (requested: string[]) => requested.flatMap((name) => spelling.get(name) ?? [])
  return { code: found(names.code), name: found(names.name), parent: found(names.parent) }
}

export type BoundaryInspection = Awaited<ReturnType<typeof inspectFile>>

const MAX_COLUMNS = 1000
const EXAMPLE_CHARACTERS = 40

export async function inspectFile(file: FeatureFile, noted: Noted) {
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
  const likely = LEVELS.map((level) => recognise(keys, level)).find(Boolean)
  if (!likely) return { source: null, level: null, properties: null }
  const level = findLevel(properties, likely.source)
  const layout = level === undefined ? likely : (recognise(keys, level) ?? likely)
  return { source: layout.source.name, level: level ?? null, properties: layout.names }
}
