import { OperatorError } from '#src/errors.ts'
import { lowestLevel, type PropertyNames, recognise, SOURCES, type Source } from './sources.ts'

/** What the operator said about properties. */
export type GivenProperties = Partial<Record<keyof PropertyNames, string>>

/** What is known of the properties of a file. */
export interface KnownProperties {
  names: PropertyNames
  /** Whose they are, where that is known. */
  source: Source | undefined
}

/** Given for the parents' property: they are not to be found by code. */
const NO_PROPERTY = 'none'

/**
 * Finds the properties that hold code, name and parent's code, from those that a feature has.
 *
 * @throws {OperatorError} lists the properties that are there, when none can be guessed or one that was
 * given is not among them
 */
export function knownProperties(
  file: string,
  level: number,
  properties: Record<string, unknown>,
  given: GivenProperties,
): KnownProperties {
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
  // A country has its own code and name, should the file have none.
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

/** What is wrong with a file of another level. */
export function otherLevel(file: string, is: number, wanted: number): OperatorError {
  return new OperatorError(`${file} holds areas of level ${is}, not of level ${wanted}.`)
}

/** The level of the lowest areas that any source has codes of, in properties such as ADM2_PCODE or GID_2. */
function levelByCodes(properties: Record<string, unknown>): number | undefined {
  const levels = SOURCES.flatMap((source) =>
    source.level === 'codes' ? (levelOf(properties, source) ?? []) : [],
  )
  return levels.length > 0 ? Math.max(...levels) : undefined
}

/** The level that a feature is of, by what its properties say; undefined where they do not. */
export function levelOf(properties: Record<string, unknown>, source: Source | undefined): number | undefined {
  if (source?.level === 'codes') {
    return lowestLevel(
      source,
      Object.keys(properties).filter((key) => codeOf(properties, [key]) !== undefined),
    )
  }
  if (!source?.level) return undefined
  const said = textOf(properties, spellings(properties, [source.level.property]))
  const digit = /^(?:adm)?([0-5])$/i.exec(said ?? '')?.[1]
  return digit === undefined ? undefined : Number(digit)
}

/** What a feature says of its country. */
export interface SaidCountry {
  text: string
  /** A code of the form of ISO 3166-1 alpha-3, or a name, of a source that is known: else it may be anything. */
  certain: boolean
}

/** The country that a feature says it is of; undefined where it does not. */
export function countryOf(
  properties: Record<string, unknown>,
  source: Source | undefined,
): SaidCountry | undefined {
  const codes = source?.countryCode ?? SOURCES.flatMap(({ countryCode }) => countryCode)
  const code = codeOf(properties, spellings(properties, codes))
  if (code !== undefined) return { text: code, certain: source !== undefined && /^[a-z]{3}$/i.test(code) }
  const name = textOf(properties, spellings(properties, source?.countryName ?? []))
  return name === undefined ? undefined : { text: name, certain: true }
}

/** The properties of some names, in the file's spelling, in the order of the names. */
function spellings(properties: Record<string, unknown>, names: string[]): string[] {
  const keys = Object.keys(properties)
  return names.flatMap((name) => keys.filter((key) => key.toLowerCase() === name))
}

/** What publishers write where there is no code. */
const NO_CODE = /^(?:none|null|<null>|nan|n\/a|-99|-)$/i

/**
 * The first of some properties that has a code.
 *
 * @param noCode what the source also writes where there is none
 */
export function codeOf(
  properties: Record<string, unknown>,
  names: string[],
  noCode?: string,
): string | undefined {
  const coded = names.filter((name) => {
    const text = textOf(properties, [name])
    return text !== noCode && !NO_CODE.test(text ?? '')
  })
  return textOf(properties, coded)
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
