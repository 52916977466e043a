import { OperatorError } from '#src/errors.ts'
import type { FeatureFile, Noted, RawFeature } from './feature.ts'
import { type Shape, shapeOf } from './geometry.ts'
import { type CountryPlace, refuseOtherPlace } from './place.ts'
import {
  countryOf,
  type GivenProperties,
  levelOf,
  type PropertyNames,
  propertyNames,
  textOf,
} from './properties.ts'
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
}

/**
 * Reads the areas of files one after the other.
 *
 * @throws {OperatorError} where a file is not of the country or the level
 */
export async function* readAreas(
  files: FeatureFile[],
  target: Target,
  { dropped, noted }: Listeners,
): AsyncGenerator<StagedArea> {
  for (const file of files) {
    let names: PropertyNames | undefined
    for await (const feature of file.features(noted)) {
      const origin = `feature ${feature.number} of ${file.name}`
      refuseOtherLevel(file.name, feature, target)
      refuseOtherCountry(origin, feature, target)
      names ??= propertyNames(file.name, target.level, feature.properties, target.properties)
      const code = textOf(feature.properties, names.code) ?? null
      const shape = usableShape(origin, feature)
      if (typeof shape === 'string') {
        dropped({ area: code ?? origin, reason: shape })
        continue
      }
      refuseOtherPlace(code ? `${code} (${origin})` : origin, shape.bounds, target.country, target.countries)
      yield {
        origin,
        code: code ?? (names.code.length === 0 ? target.country.code.toUpperCase() : null),
        name: textOf(feature.properties, names.name) ?? (target.level === 0 ? target.country.name : null),
        parentCode: textOf(feature.properties, names.parent) ?? null,
        wkb: shape.wkb,
      }
    }
  }
}

function usableShape(origin: string, feature: RawFeature): Shape | string {
  try {
    return shapeOf(feature.geometry)
  } catch (error) {
    if (error instanceof RangeError) throw new OperatorError(`${origin}: ${error.message}.`)
    throw error
  }
}

function refuseOtherLevel(file: string, { properties }: RawFeature, target: Target): void {
  // Whoever names the code's property knows which level it is of.
  if (target.properties.code) return
  const level = levelOf(properties)
  if (level === undefined || level === target.level) return
  throw new OperatorError(`${file} holds areas of level ${level}, not of level ${target.level}.`)
}

function refuseOtherCountry(origin: string, { properties }: RawFeature, target: Target): void {
  const said = countryOf(properties)
  const other = said === undefined ? undefined : target.countryNamed(said)
  if (!other || other.code === target.country.code) return
  throw new OperatorError(`${origin} is of ${other.name} (${said}), not of ${target.country.name}.`)
}
