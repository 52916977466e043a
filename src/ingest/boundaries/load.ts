import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { basename } from 'node:path'
import { COUNTRIES, findKeys, listCountryExtents } from '#src/catalog/reference-queries.ts'
import type { Database } from '#src/data/database.ts'
import { OperatorError } from '#src/errors.ts'
import { nameKey } from '#src/lib/names.ts'
import { mendName } from '#src/lib/text.ts'
import { type FeatureFile, readShape } from './feature.ts'
import {
  findCountry,
  findLevel,
  type GivenProperties,
  otherLevel,
  type PropertyLayout,
  type RecognizedProperties,
  readCode,
  readText,
  recognizeProperties,
} from './properties.ts'
import { type AreaIssue, type BoundarySet, findBoundarySets, type StagedArea } from './queries.ts'
import {
  type CountryBounds,
  codeOfName,
  type LoadReport,
  type ReplaceOptions,
  refuseOutsideCountry,
  replaceBoundaries,
} from './replace.ts'

export interface LoadRequest extends Omit<ReplaceOptions, 'country' | 'dropped' | 'notes'> {
  files: FeatureFile[]
  country: string
  level: number
  properties: GivenProperties
  /** Left out, the stored ones of the same files stay. */
  source: string | undefined
  licence: string | undefined
  read?: ((part: number) => void) | undefined
}

export type FileReport = LoadReport & { elsewhere: number }

/**
 * Replaces the areas of a level: all or, after any error, none.
 *
 * @returns no report if the same files are loaded
 */
export async function loadBoundaries(
  database: Database,
  request: LoadRequest,
): Promise<{ country: string; report: FileReport | undefined }> {
  const { level, files } = request
  const target = await findTarget(database, request)
  const { country } = target
  const sets = await findBoundarySets(database.writer, country.code)
  const before = sets.get(level)
  // A strict load says of the same files what it would have refused.
  if (
    before &&
    !request.strict &&
    before.checksum === (await computeChecksum(request, country.code, before))
  ) {
    return { country: country.name, report: undefined }
  }
  refuseMissingParents(country, level, sets)

  const found: Found = { dropped: [], notes: [], elsewhere: 0 }
  const names = files.map(({ paths }) => basename(paths[0] as string)).join(', ')
  const otherwise = { source: `Not stated; loaded from ${names}`, licence: 'Not stated' }
  const set = {
    countryCode: country.code,
    level,
    checksum: await computeChecksum(request, country.code, otherwise),
    approximate: false,
    source: request.source ?? otherwise.source,
    licence: request.licence ?? otherwise.licence,
  }
  const areas = readAreas(request, target, found)
  const report = await replaceBoundaries(database, set, areas, { ...request, ...found, country })
  return { country: country.name, report: { ...report, elsewhere: found.elsewhere } }
}

/** Of names that look damaged. */
const NAMED = 5

interface Found {
  dropped: AreaIssue[]
  notes: string[]
  elsewhere: number
}

async function findTarget({ writer }: Database, request: LoadRequest) {
  const keys = await findKeys(writer, COUNTRIES)
  const countries = (await listCountryExtents(writer)).map(
    ({ code, name, extent, stated }): CountryBounds => ({
      code,
      name,
      // A new outline replaces the old one, wherever it lay.
      bounds: request.level === 0 ? stated : extent,
    }),
  )
  const countryNamed = (name: string): CountryBounds | undefined => {
    const code = keys.get(nameKey(name))?.code
    return countries.find((country) => country.code === code)
  }
  const country = countryNamed(request.country)
  if (country) return { ...request, country, countries, countryNamed }
  const codes = countries.map(({ code, name }) => `${code} (${name})`).join(', ')
  throw new OperatorError(`--country must be one of ${codes}, not ${request.country}.`, { code: 'NOT_FOUND' })
}

/** Covers the bytes of the files and all settings that change the result. */
async function computeChecksum(
  request: LoadRequest,
  countryCode: string,
  otherwise: Pick<BoundarySet, 'source' | 'licence'>,
): Promise<string> {
  const { files, level, properties, source = otherwise.source, licence = otherwise.licence } = request
  const reading = files.flatMap((file) => file.reading)
  const codes = request.codes === undefined ? [] : ['codes', request.codes]
  const decisions = [countryCode, level, properties, source, licence, ...reading, ...codes]
  const hash = createHash('sha256').update(JSON.stringify(decisions))
  for (const path of files.flatMap((file) => file.paths)) {
    for await (const chunk of createReadStream(path)) hash.update(chunk)
  }
  return hash.digest('hex')
}

/** Areas of level 2 and 3 need parents; real areas do not nest in approximate ones. */
function refuseMissingParents(country: CountryBounds, level: number, sets: Map<number, BoundarySet>): void {
  if (level < 2) return
  const above = sets.get(level - 1)
  if (above && !above.approximate) return
  const state = above ? 'holds nothing but approximate areas' : 'is not loaded'
  throw new OperatorError(
    `Level ${level - 1} of ${country.name} ${state}: load it first, for the areas of level ${level} lie in its areas.`,
  )
}

type Target = Awaited<ReturnType<typeof findTarget>>

async function* readAreas({ files, strict, read = () => {} }: LoadRequest, target: Target, found: Found) {
  const { country, countries, level } = target
  for (const [index, file] of files.entries()) {
    let recognized: RecognizedProperties | undefined
    let foreign: OperatorError | undefined
    let some = false
    let remedy = 'The file has them so: make it anew from its source, read as UTF-8.'
    const misread = new Set<string>()
    for await (const feature of file.features((note) => found.notes.push(note))) {
      read((index + feature.read) / files.length)
      const origin = `feature ${feature.number} of ${feature.file}`
      const { properties } = feature
      recognized ??= recognizeProperties(file.name, level, properties, target.properties)
      const { names, source } = recognized
      const other = otherCountry(origin, properties, source, target)
      if (other) {
        foreign ??= other
        found.elsewhere++
        continue
      }
      some = true
      // An operator who names the code's property knows its level.
      const is = target.properties.code ? undefined : findLevel(properties, source)
      if (is !== undefined && is !== level) throw otherLevel(file.name, is, level)
      const code = readCode(properties, names.code, source?.noCode) ?? null
      const shape = readShape(feature.geometry, feature)
      if (typeof shape === 'string') {
        found.dropped.push({ area: code ?? origin, reason: shape })
        continue
      }
      const subject = code ? `${code} (${origin})` : origin
      refuseOutsideCountry(subject, feature.path, shape.bounds, country, countries)
      const name = readText(properties, names.name) ?? null
      const meant = name && mendName(name)
      if (meant !== name && misread.size < NAMED) misread.add(`${name} (${meant}?)`)
      remedy = feature.remedy ?? remedy
      yield {
        origin,
        code: code ?? (names.code.length === 0 ? country.code.toUpperCase() : null),
        name: name ?? (level === 0 ? country.name : null),
        nameCode: name && codeOfName(name),
        parentCode: readCode(properties, names.parent, source?.noCode) ?? null,
        wkb: shape.wkb,
      } satisfies StagedArea
    }
    // Files of the world serve one country; a file without it is a mistake.
    if (foreign && !some) throw foreign
    const examples = [...misread].join(', ')
    if (examples)
      found.notes.push(
        `Names of ${file.name} look damaged by a wrong encoding or by HTML: ${examples}. ${remedy}`,
      )
  }
  read(1)
  if (!strict || found.elsewhere === 0) return
  const [one, others] = [
    'One feature is of another country',
    `${found.elsewhere} features are of other countries`,
  ]
  throw new OperatorError(`${found.elsewhere === 1 ? one : others}: rejected by --strict.`)
}

function otherCountry(
  origin: string,
  properties: Record<string, unknown>,
  source: PropertyLayout | undefined,
  { country, countryNamed }: Target,
): OperatorError | undefined {
  const said = findCountry(properties, source)
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
