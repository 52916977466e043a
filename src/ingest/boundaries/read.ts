import { OperatorError } from '#src/errors.ts'
import { codeOfName } from './codes.ts'
import type { FeatureFile, Noted, RawFeature } from './feature.ts'
import { type Shape, shapeOf } from './geometry.ts'
import { type CountryPlace, refuseOtherPlace } from './place.ts'
import {
  codeOf,
  countryOf,
  type GivenProperties,
  type KnownProperties,
  knownProperties,
  levelOf,
  otherLevel,
  textOf,
} from './properties.ts'
import type { Source } from './sources.ts'
import type { Finding, StagedArea } from './staging-queries.ts'

/** What the areas of a file are meant to be. */
export interface Target {
  country: CountryPlace
  level: number
  /** Properties that the operator named; the others are guessed. */
  properties: GivenProperties
  /** All countries, to recognise files of another one. */
  countries: CountryPlace[]
  /** The country that a code or name is of, if one is. */
  countryNamed(name: string): CountryPlace | undefined
}

/** Who is told what while areas are read. */
export interface Listeners {
  /** Which features have no polygon. */
  dropped(finding: Finding): void
  noted: Noted
  /** That a feature is of another country than others of its file. */
  elsewhere(): void
  /** Which part of the files is read, from 0 to 1. */
  read(part: number): void
}

/**
 * Reads the areas of files one after the other.
 *
 * @throws {OperatorError} where a file is not of the country or the level
 */
export async function* readAreas(
  files: FeatureFile[],
  target: Target,
  { dropped, noted, elsewhere, read }: Listeners,
): AsyncGenerator<StagedArea> {
  for (const [index, file] of files.entries()) {
    let known: KnownProperties | undefined
    let foreign: OperatorError | undefined
    let some = false
    for await (const feature of file.features(noted)) {
      read((index + feature.read) / files.length)
      const origin = `feature ${feature.number} of ${file.name}`
      const { properties } = feature
      known ??= knownProperties(file.name, target.level, properties, target.properties)
      const { names, source } = known
      const other = otherCountry(origin, properties, source, target)
      if (other) {
        foreign ??= other
        elsewhere()
        continue
      }
      some = true
      refuseOtherLevel(file.name, properties, source, target)
      const code = codeOf(properties, names.code, source?.noCode) ?? null
      const shape = usableShape(origin, feature)
      if (typeof shape === 'string') {
        dropped({ area: code ?? origin, reason: shape })
        continue
      }
      refuseOtherPlace(code ? `${code} (${origin})` : origin, shape.bounds, target.country, target.countries)
      const name = textOf(properties, names.name) ?? null
      yield {
        origin,
        code: code ?? (names.code.length === 0 ? target.country.code.toUpperCase() : null),
        name: name ?? (target.level === 0 ? target.country.name : null),
        nameCode: name && codeOfName(name),
        parentCode: codeOf(properties, names.parent, source?.noCode) ?? null,
        wkb: shape.wkb,
      }
    }
    // Files of the world are read for one country; of a file without any of it, another was meant.
    if (foreign && !some) throw foreign
  }
  read(1)
}

function usableShape(origin: string, feature: RawFeature): Shape | string {
  try {
    return shapeOf(feature.geometry)
  } catch (error) {
    if (error instanceof RangeError) throw new OperatorError(`${origin}: ${error.message}.`)
    throw error
  }
}

function refuseOtherLevel(
  file: string,
  properties: Record<string, unknown>,
  source: Source | undefined,
  target: Target,
): void {
  // Whoever names the code's property knows which level it is of.
  if (target.properties.code) return
  const level = levelOf(properties, source)
  if (level === undefined || level === target.level) return
  throw otherLevel(file, level, target.level)
}

/** @returns what to say of a feature that says it is of another country */
function otherCountry(
  origin: string,
  properties: Record<string, unknown>,
  source: Source | undefined,
  { country, countryNamed }: Target,
): OperatorError | undefined {
  const said = countryOf(properties, source)
  if (!said) return undefined
  const named = countryNamed(said.text)
  if (named) {
    if (named.code === country.code) return undefined
    return new OperatorError(`${origin} is of ${named.name} (${said.text}), not of ${country.name}.`)
  }
  if (!said.certain) return undefined
  return new OperatorError(
    `${origin} is of ${said.text}, not of ${country.name}: if they are the same, \`agro countries alias\` adds a name.`,
  )
}
