import { OperatorError } from '#src/errors.ts'

/** Which properties of the features are what. */
export interface PropertyNames {
  /** The first of them that a feature has is its code. None: the country's own, at level 0. */
  code: string[]
  name: string[]
  /** None: parents are found by overlap. */
  parent: string[]
}

/** What the operator said about them. */
export type GivenProperties = Partial<Record<keyof PropertyNames, string>>

/** Given for the parents' property: they are not to be found by code. */
const NO_PROPERTY = 'none'

/**
 * How publishers name the properties of an area of some level, in lower case. The conventions are tried
 * in this order, each as a whole.
 */
const CONVENTIONS: ((level: number) => PropertyNames)[] = [
  () => ({ code: ['code'], name: ['name'], parent: ['parent_code'] }),
  // OCHA COD-AB, in its spellings since 2010: ADM2_PCODE, adm2_pcode, admin2Pcode.
  ...['_pcode', 'pcode'].flatMap((pcode) =>
    ['adm', 'admin'].map((admin) => (level: number) => ({
      code: [`${admin}${level}${pcode}`],
      name: ['_en', '_name', 'name_en', 'name', '_ref', '_fr'].map((name) => `${admin}${level}${name}`),
      parent: [`${admin}${level - 1}${pcode}`],
    })),
  ),
  // geoBoundaries: ISO 3166-2 codes exist for the first level alone.
  (level) => ({
    code: level <= 1 ? ['shapeiso', 'shapeid'] : ['shapeid'],
    name: ['shapename'],
    parent: [],
  }),
  // GADM; its level 0 has names in COUNTRY.
  (level) => ({
    code: [`gid_${level}`],
    name: [level === 0 ? 'country' : `name_${level}`],
    parent: [`gid_${level - 1}`],
  }),
]

/** Properties that say of which level or country an area is. */
const LEVEL_PROPERTIES = ['level', 'shapetype']
const COUNTRY_PROPERTIES = ['iso3', 'shapegroup', 'gid_0', 'adm0_pcode', 'admin0pcode']
const LEVEL_IN_NAME = /^(?:adm|admin|gid_)(\d)(?:_?pcode)?$/

/**
 * Finds the properties that hold code, name and parent's code, from those that a feature has.
 *
 * @throws {OperatorError} lists the properties that are there, when none can be guessed or one that was
 * given is not among them
 */
export function propertyNames(
  file: string,
  level: number,
  properties: Record<string, unknown>,
  given: GivenProperties,
): PropertyNames {
  const keys = Object.keys(properties)
  const guessed = CONVENTIONS.map((convention) => present(convention(level), keys)).find(
    ({ code, name }) => code.length > 0 && name.length > 0,
  )
  const code = given.code ? [existing('code', given.code)] : guessed?.code
  const name = given.name ? [existing('name', given.name)] : guessed?.name
  const parent =
    given.parent === NO_PROPERTY
      ? []
      : given.parent
        ? [existing('parent', given.parent)]
        : (guessed?.parent ?? [])
  // A country has its own code and name, should the file have none.
  if (level === 0) return { code: code ?? [], name: name ?? [], parent: [] }
  if (!code || !name) {
    const other = levelByNames(keys)
    const hint = other !== undefined && other !== level ? ` They look like level ${other}.` : ''
    const missing = [!code && '--code-property', !name && '--name-property'].filter(Boolean).join(' and ')
    throw new OperatorError(
      `Which properties of ${file} hold code and name cannot be guessed at level ${level}: give ${missing}. It has ${listed(keys)}.${hint}`,
    )
  }
  return { code, name, parent }

  function existing(what: string, wanted: string): string {
    const key =
      keys.find((candidate) => candidate === wanted) ??
      keys.find((candidate) => candidate.toLowerCase() === wanted.toLowerCase())
    if (key) return key
    throw new OperatorError(`${file} has no property ${wanted} (--${what}-property); it has ${listed(keys)}.`)
  }
}

function listed(keys: string[]): string {
  return keys.length > 0 ? keys.join(', ') : 'no properties at all'
}

/** The names of a convention that are there, in the file's spelling. */
function present(names: PropertyNames, keys: string[]): PropertyNames {
  const spelling = new Map(keys.map((key) => [key.toLowerCase(), key]))
  const found = (wanted: string[]) => wanted.flatMap((name) => spelling.get(name) ?? [])
  return { code: found(names.code), name: found(names.name), parent: found(names.parent) }
}

/** The level of the lowest areas that properties such as ADM2_PCODE or GID_2 are named after. */
function levelByNames(keys: string[]): number | undefined {
  const levels = keys.flatMap((key) => LEVEL_IN_NAME.exec(key.toLowerCase())?.[1] ?? [])
  return levels.length > 0 ? Math.max(...levels.map(Number)) : undefined
}

/** The level that a feature is of, by what its properties say; undefined where they do not. */
export function levelOf(properties: Record<string, unknown>): number | undefined {
  for (const [key, value] of Object.entries(properties)) {
    if (!LEVEL_PROPERTIES.includes(key.toLowerCase())) continue
    const digit = /^(?:adm)?([0-5])$/i.exec(String(value))?.[1]
    if (digit !== undefined) return Number(digit)
  }
  return levelByNames(Object.keys(properties).filter((key) => textOf(properties, [key]) !== undefined))
}

/** The country that a feature says it is of, as a code; undefined where it does not. */
export function countryOf(properties: Record<string, unknown>): string | undefined {
  const key = Object.keys(properties).find((name) => COUNTRY_PROPERTIES.includes(name.toLowerCase()))
  return key && textOf(properties, [key])
}

/** The first of some properties that says something, as text. */
export function textOf(properties: Record<string, unknown>, names: string[]): string | undefined {
  for (const name of names) {
    const value = properties[name]
    // A number column of a .dbf is NaN where it is blank.
    if (typeof value !== 'string' && !Number.isFinite(value)) continue
    // PostgreSQL's text has no NUL; fixed-width files pad with it.
    const text = String(value).replaceAll('\0', '').trim().normalize('NFC')
    if (text !== '') return text
  }
  return undefined
}
