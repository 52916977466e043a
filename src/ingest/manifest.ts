import { createReadStream } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { type Static, Type } from 'typebox'
import { Lexer, LineCounter, Parser, parseDocument } from 'yaml'
import type { Conditions } from '#schemas/certainty.ts'
import { productSchema } from '#schemas/product.ts'
import type { ProductDefinition, Products } from '#schemas/products/define.ts'
import { PRODUCTS } from '#schemas/products/index.ts'
import { CHECK_NAMES } from '#src/catalog/release-checks.ts'
import { type OperatorCode, OperatorError } from '#src/errors.ts'
import { decodeFile } from '#src/ingest/other-formats.ts'
import { isDay } from '#src/lib/dates.ts'
import { findSimilarName } from '#src/lib/names.ts'
import { formatError, readErrorCode } from '#src/lib/promises.ts'
import { archiveIn, nearestName, openZipArchive, rasterIn } from './archive.ts'
import {
  BAND,
  COMPANION_DECIMALS,
  ConditionsEntry,
  describeConditions,
  findProblemsOfCompanions,
  LAYER_MEMBERS,
  Label,
  listCompanions,
  type Problem,
  readAttributes,
} from './companions.ts'
import { FOLDER_READERS } from './observers.ts'
import {
  BEGIN_MANIFEST,
  FORMAT_BYTES,
  refuseNoManifest,
  refuseOtherRaster,
  refusePacked,
  refuseUnreadable,
} from './other-formats.ts'
import { loadReaders } from './readers.ts'
import type { LayerSource } from './source.ts'

const LayerEntry = Type.Object(
  {
    ...BAND,
    input: Type.Optional(Label),
    scenario: Type.Optional(Label),
    unit: Type.String(),
    decimals: Type.Optional(Type.Integer({ minimum: 0, maximum: 10 })),
    ...LAYER_MEMBERS,
  },
  { additionalProperties: false },
)

const MAX_LAYERS = 256

function manifestSchema(products: readonly ProductDefinition[]) {
  return Type.Object(
    {
      product: productSchema(products, 'Its product.'),
      country_code: Type.String({ pattern: '^[a-z]{3}$' }),
      crop: Type.Optional(Type.String({ pattern: '^[a-z][a-z0-9-]*$' })),
      forecast_period: Type.Optional(Type.String({ pattern: '^[0-9]{4}-(0[1-9]|1[0-2])$' })),
      valid_until: Type.Optional(Type.String({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' })),
      source: Type.String({ minLength: 1, maxLength: 1000 }),
      licence: Type.String({ minLength: 1, maxLength: 200 }),
      synthetic: Type.Optional(Type.Boolean()),
      lossy: Type.Optional(Type.Boolean()),
      allow: Type.Optional(Type.Array(Type.Enum(CHECK_NAMES))),
      conditions: Type.Optional(ConditionsEntry),
      layers: Type.Array(LayerEntry, { minItems: 1, maxItems: MAX_LAYERS }),
    },
    { additionalProperties: false },
  )
}

type ManifestFile = Static<ReturnType<typeof manifestSchema>>

type LayerText = Static<typeof LayerEntry>

/** A layer, or a band about layers. Decimals default to the product's. */
export interface ManifestLayer
  extends Omit<LayerText, 'file' | 'files' | keyof typeof LAYER_MEMBERS>,
    Pick<LayerSource, 'condition' | 'role' | 'probability' | 'range'>,
    Partial<Pick<NonNullable<LayerSource['about']>, 'line' | 'names'>> {
  /** Absolute paths and addresses. */
  files: readonly [string, ...string[]]
  decimals: number
}

export type Manifest = Omit<ManifestFile, 'layers' | 'conditions'> & {
  layers: ManifestLayer[]
  conditions?: Conditions | null
}

/**
 * `*` stands for any part of a name; matches are sorted.
 *
 * @param folder the base of relative paths
 * @throws {OperatorError} for missing files
 */
async function findPaths(folder: string, name: string): Promise<string[]> {
  if (isAddress(name) && (await loadReaders()).length > 0) return [name]
  refuseOtherRaster(name)
  const path = resolve(folder, name)
  if (basename(path).includes('*')) return findAll(path)
  await refuseMissing(path)
  return [path]
}

export function isAddress(name: string): boolean {
  return /^(?:https?|s3):/i.test(name)
}

async function findAll(pattern: string): Promise<string[]> {
  const folder = dirname(pattern)
  const archive = await archiveIn(folder)
  if (archive === undefined) await refuseMissing(folder)
  const names =
    archive === undefined
      ? await readdir(folder).catch((error) => refuseUnreadable(folder, error))
      : (await namesIn(archive)).filter((name) => join(archive, dirname(name)) === folder)
  const found = names.map((name) => basename(name)).filter((name) => fits(name, basename(pattern).split('*')))
  if (found.length === 0) throw new OperatorError(`${pattern} fits no file.`, { code: 'NOT_FOUND' })
  return found.toSorted().map((name) => join(folder, name))
}

async function namesIn(archivePath: string): Promise<string[]> {
  const { names, close } = await openZipArchive(archivePath, archivePath)
  close()
  return names
}

/** @throws {OperatorError} for a file that is not there, with its nearest name */
async function refuseMissing(path: string): Promise<void> {
  const archive = await archiveIn(path)
  if (archive !== undefined)
    return void (await rasterIn(await namesIn(archive), archive, path.slice(archive.length + 1)))
  if (await isThere(path)) return
  const folder = dirname(path)
  await refuseMissing(folder)
  refusePacked(folder)
  const slashed = path.replaceAll('\\', '/')
  const name = basename(path)
  const near = nearestName(name, await readdir(folder).catch(() => []))
  const differs = near?.normalize() === name.normalize() ? ', which has its accents as other signs' : ''
  const asked = near && `is it ${near}${differs}?`
  const step =
    slashed !== path && (await isThere(slashed))
      ? 'write / instead of \\'
      : name === '~'
        ? 'write the whole path, since ~ is of shells'
        : asked
  const end = `${step ? `: ${step}` : ''}${step?.endsWith('?') ? '' : '.'}`
  throw new OperatorError(`${path} does not exist${end}`, { code: 'NOT_FOUND' })
}

async function isThere(path: string): Promise<boolean> {
  // Other faults have sentences of their own.
  return stat(path).then(
    () => true,
    (error) => !['ENOENT', 'ENOTDIR'].includes(String(readErrorCode(error))),
  )
}

/** Parts are in order, from the beginning to the end. */
function fits(name: string, [start = '', ...parts]: string[]): boolean {
  const end = parts.pop() ?? ''
  if (!name.startsWith(start) || !name.endsWith(end)) return false
  let at = start.length
  for (const part of parts) {
    const found = name.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return at + end.length <= name.length
}

const AJV = { allErrors: true, allowUnionTypes: true, verbose: true }

/** Explains patterns to people. */
const FORMS: Record<string, string> = {
  country_code: 'a country code such as "eth"',
  crop: 'a crop code such as "wheat"',
  forecast_period: 'a month such as "2026-07"',
  valid_until: 'a date such as "2026-12-31"',
  input: 'a name of at most 100 characters without spaces around it',
  scenario: 'a name of at most 100 characters without spaces around it',
  condition: 'a name of at most 100 characters without spaces around it',
  question: 'a question of at most 100 characters without spaces around it',
}

const BOUNDS: Record<string, string> = {
  minItems: 'at least',
  minProperties: 'at least',
  maxItems: 'at most',
  maxProperties: 'at most',
}

/** By the parser's codes. */
const YAML_STEPS: Partial<Record<string, string>> = {
  BLOCK_AS_IMPLICIT_KEY:
    ": a text with a colon stands in quotes, source: 'CIAT: July', and a space follows the hyphen of a list",
  BAD_DQ_ESCAPE: ': in double quotes \\ begins a sign of its own; write / in paths',
}

const VALIDATORS = new WeakMap<Products, ValidateFunction<ManifestFile>>()

/** Compiles once what takes longer than the reading of a manifest. */
function compileValidator(products: Products): ValidateFunction<ManifestFile> {
  const compiled = VALIDATORS.get(products) ?? new Ajv(AJV).compile(manifestSchema(products.list))
  VALIDATORS.set(products, compiled)
  return compiled
}

/** Relative paths begin at the manifest. */
export async function readManifest(path: string, products: Products = PRODUCTS): Promise<Manifest> {
  return parseManifest(path, await readManifestText(path), products)
}

/** @param path of the text, or where it would be */
export async function parseManifest(
  path: string,
  text: string,
  products: Products = PRODUCTS,
): Promise<Manifest> {
  const lines = new LineCounter()
  refuseQuestions(path, text)
  refuseDeep(path, text)
  const document = parseDocument(text, { lineCounter: lines })
  const [syntax] = document.errors
  if (syntax) {
    const { line } = lines.linePos(syntax.pos[0])
    throw new OperatorError(
      `${path}:${line}: is not YAML: ${syntax.message.replace(/ at line \d[\s\S]*/, '')}${YAML_STEPS[syntax.code] ?? ''}`,
    )
  }

  const manifest = valueIn(path, document)
  const isManifest = compileValidator(products)
  const problems = isManifest(manifest)
    ? findProblems(products.of(manifest.product), manifest)
    : (isManifest.errors ?? []).map(describe)
  if (problems.length > 0) {
    const distinct = new Map(problems.map((problem) => [problem.path.join('.') + problem.message, problem]))
    const listed = [...distinct.values()]
      .slice(0, LISTED_PROBLEMS)
      .map(({ path: member, message }) => `${path}:${findLine(member)}: ${pathText(member)}${message}`)
    if (distinct.size > LISTED_PROBLEMS) listed.push(`${path}: and ${distinct.size - LISTED_PROBLEMS} more.`)
    throw new OperatorError(listed.join('\n'))
  }
  const { layers: entries, conditions, ...rest } = manifest as ManifestFile
  const layers = entries.map((layer, index) => ({ ...layer, line: findLine(['layers', index]) }))
  const { decimals } = products.of(rest.product)
  const found: ManifestLayer[] = []
  const faults = new Map<string, OperatorCode>()
  const withPaths = async <Band extends Pick<LayerText, 'file' | 'files'> & { line?: number }>({
    file,
    files = [file as string],
    ...band
  }: Band) => {
    const paths: string[] = []
    for (const name of files) {
      const found = findPaths(dirname(path), name).catch((error) => {
        if (!(error instanceof OperatorError)) throw error
        const line = band.line ?? findLine(['conditions', 'raster'])
        faults.set(`${path}:${line}: ${error.message}`, error.code)
        return []
      })
      paths.push(...(await found))
    }
    return {
      ...band,
      names: files.map((name) => (isAbsolute(name) || isAddress(name) ? basename(name) : name)),
      files: [...new Set(paths)] as [string, ...string[]],
    }
  }
  for (const layer of layers) {
    const { low: _, high: __, stddev: ___, probability: ____, range: _____, ...band } = layer
    found.push({ decimals, ...(await withPaths({ ...band, ...readAttributes(layer, layers) })) })
  }
  for (const companion of listCompanions(layers, conditions)) {
    const own = COMPANION_DECIMALS[companion.role] ?? companion.decimals ?? decimals
    found.push({ ...(await withPaths(companion)), decimals: own })
  }
  const [code] = faults.values()
  if (code) throw new OperatorError([...faults.keys()].join('\n'), { code })
  return { ...rest, layers: found, conditions: describeConditions(conditions) }

  /** Of the value, or of its nearest existing parent. */
  function findLine(member: (string | number)[]): number {
    for (let length = member.length; length > 0; length--) {
      const node = document.getIn(member.slice(0, length), true) as
        | { range?: [number, number, number] }
        | undefined
      if (node?.range) return lines.linePos(node.range[0]).line
    }
    return 1
  }
}

/** 256 layers take some 50 kB; YAML of a megabyte can take hundreds of MB. */
const MAX_BYTES = 256 * 1024

const LISTED_PROBLEMS = 50

async function readManifestText(path: string): Promise<string> {
  const read = createReadStream(path, { end: MAX_BYTES }).toArray()
  const bytes = Buffer.concat(
    await read.catch((error) =>
      readErrorCode(error) === 'EISDIR' ? refuseFolder(path) : refuseUnreadable(path, error),
    ),
  )
  refuseNoManifest(path, bytes.toString('latin1', 0, FORMAT_BYTES))
  if (bytes.length > MAX_BYTES)
    throw new OperatorError(`${path} has more than the ${MAX_BYTES} bytes of a manifest.`)
  return decodeFile(bytes, { source: path })
}

/** Lines that a draft leaves to a person: the member, the question, and candidates. */
const QUESTION = /^\s*# \?(?: (.*))?$/
const ASKED = /^(?:(\w+): )?(.*?)(?: \[(.*)\])?$/

function refuseQuestions(path: string, text: string): void {
  const asked = text.split(/\r?\n/).flatMap((line, index) => {
    const [isAsked, question = ''] = QUESTION.exec(line) ?? []
    return isAsked === undefined ? [] : [{ line: index + 1, question }]
  })
  if (asked.length === 0) return
  const more = asked.length > LISTED_PROBLEMS ? [`${path}: and ${asked.length - LISTED_PROBLEMS} more.`] : []
  const listed = asked
    .slice(0, LISTED_PROBLEMS)
    .map(({ line, question }) => `${path}:${line}: is a question: ${question}`)
  const step = 'Mend what each is about, and delete its line.'
  const refusal = new OperatorError([...listed, ...more, step].join('\n'), { code: 'QUESTIONS' })
  const questions = asked.map(({ line, question }) => {
    const [, member = '', text, candidates] = ASKED.exec(question) ?? []
    const places = [{ manifest: path, line }]
    return { member, text, candidates: candidates?.split(' | ') ?? [], files: [], places }
  })
  refusal.answer = { questions }
  throw refusal
}

/** The reader of a folder without manifests; undefined for a file. @throws {OperatorError} for a folder that none reads */
export async function findFolderReader(path: string, isOn: (extension: string) => boolean) {
  const names = await readdir(path).catch(() => undefined)
  if (names === undefined) return undefined
  const [reader] = FOLDER_READERS
  if (!reader || names.some((name) => MANIFEST.test(name))) return refuseFolder(path)
  if (isOn(reader.extension)) return reader.load()
  return refuseFolder(path, ` The extension ${reader.extension}, which reads folders of rasters, is off.`)
}

const MANIFEST = /\.ya?ml$/i

async function refuseFolder(path: string, why = ''): Promise<never> {
  const manifests = (await readdir(path)).filter((name) => MANIFEST.test(name)).sort()
  const listed = manifests.slice(0, LISTED_PROBLEMS).map((name) => join(path, name))
  const step = listed.length > 0 ? `it has ${listed.join(', ')}.` : `it has no .yaml file. ${BEGIN_MANIFEST}`
  throw new OperatorError(`${path} is a folder; give a manifest: ${step}${why}`)
}

/** As the parser counts; manifests have less than ten. */
const MAX_DEPTH = 50

/** Deep nesting would overflow the stack. */
function refuseDeep(path: string, text: string): void {
  const parser = new Parser()
  for (const lexeme of new Lexer().lex(text)) {
    for (const _ of parser.next(lexeme));
    if (parser.stack.length > MAX_DEPTH)
      throw new OperatorError(`${path} is nested too deeply for a manifest.`)
  }
}

/** Nested anchors could expand to thousands of millions of values. */
function valueIn(path: string, document: ReturnType<typeof parseDocument>): unknown {
  try {
    return document.toJS()
  } catch (error) {
    throw new OperatorError(`${path} cannot be read as a manifest: ${formatError(error)}.`)
  }
}

function pathText(path: (string | number)[]): string {
  if (path.length === 0) return ''
  return `${path.reduce<string>((text, key) => (typeof key === 'number' ? `${text}[${key}]` : text ? `${text}.${key}` : key), '')} `
}

function describe(error: ErrorObject): Problem {
  const path = error.instancePath
    .split('/')
    .slice(1)
    .map((key) => (/^\d+$/.test(key) ? Number(key) : key))
  const field = String(path.at(-1) ?? '')
  const { params, keyword } = error
  if (keyword === 'required') return { path: [...path, params.missingProperty], message: 'is missing' }
  if (keyword === 'additionalProperties') {
    const allowed = Object.keys((error.parentSchema as { properties: object }).properties)
    const meant = findSimilarName(params.additionalProperty, allowed)
    return {
      path: [...path, params.additionalProperty],
      message: `is not known${meant ? `: is it ${meant}? Allowed` : '; allowed'} here: ${allowed.join(', ')}`,
    }
  }
  if (keyword === 'enum') return { path, message: `must be one of ${params.allowedValues.join(', ')}` }
  if (keyword === 'pattern' || (FORMS[field] && keyword === 'type'))
    return { path, message: `must be ${FORMS[field]}` }
  const bound = BOUNDS[keyword]
  if (bound) {
    const entries = params.limit === 1 ? 'one entry' : `${params.limit} entries`
    return { path, message: `must have ${bound} ${entries}` }
  }
  if (keyword === 'minLength') return { path, message: 'must not be empty' }
  if (keyword === 'type' && params.type === 'array') {
    return { path, message: 'must be a list: a line each, which begins with a hyphen and a space' }
  }
  if (keyword === 'type' && params.type === 'object') {
    return { path, message: 'must be a mapping of keys to values' }
  }
  if (keyword === 'type' && params.type === 'boolean') return { path, message: 'must be true or false' }
  if (field === 'probability') return { path, message: 'must be a number from 0 to 1, or a band' }
  if (field === 'band') return { path, message: 'must be a number from 1, or the name of a band' }
  if (field === 'nodata') return { path, message: 'must be a number, nan or none' }
  if (keyword === 'const') return { path, message: `must be ${params.allowedValue}` }
  return { path, message: error.message ?? 'is not valid' }
}

/** Rules of the product, and repeated layers. */
function findProblems(product: ProductDefinition, manifest: ManifestFile): Problem[] {
  const { code, seasonal, input, unit } = product
  const problems: Problem[] = []
  const need = (path: (string | number)[], wanted: boolean, value: unknown, why: string) => {
    if (wanted && value === undefined) problems.push({ path, message: `is missing: ${why}` })
    if (!wanted && value !== undefined) problems.push({ path, message: `is not allowed: ${why}` })
  }
  const made = `${code} releases are ${seasonal ? '' : 'not '}made for`
  need(['crop'], seasonal, manifest.crop, `${made} a crop`)
  need(['forecast_period'], seasonal, manifest.forecast_period, `${made} a month`)
  const { valid_until: last, forecast_period: month = '' } = manifest
  if (last !== undefined && !isDay(last)) {
    problems.push({ path: ['valid_until'], message: 'is not a day of the calendar' })
  } else if (last !== undefined && last < month) {
    problems.push({ path: ['valid_until'], message: `must not be before ${month}, its month` })
  }
  const seen = new Map<string, number>()
  manifest.layers.forEach((layer, index) => {
    const at = ['layers', index]
    const says = (key: string, isWrong: boolean, message: string) => {
      if (isWrong) problems.push({ path: [...at, key], message })
    }
    const ofInput = input ? `it names ${input.names}` : `${code} layers have none`
    need([...at, 'input'], input !== null, layer.input, ofInput)
    const ofScenario = `${code} layers ${seasonal ? 'are for a scenario' : 'have none'}`
    need([...at, 'scenario'], seasonal, layer.scenario, ofScenario)
    const ofUnit = `must be ${unit} for ${code}; for values in another unit, give the scale that turns them into ${unit}`
    says('unit', layer.unit !== unit, ofUnit)
    const { file, files, srid, srs } = layer
    says('file', file === undefined && files === undefined, 'is missing')
    says('files', file !== undefined && files !== undefined, 'is not allowed: the file says it already')
    says('srs', srid !== undefined && srs !== undefined, 'is not allowed: the srid says it already')
    says('scale', layer.scale === 0, 'must not be 0')
    const key = [layer.input, layer.scenario, layer.condition].filter(Boolean).join(', ')
    const first = seen.get(key)
    if (first === undefined) seen.set(key, index)
    else problems.push({ path: at, message: `is for ${key || 'the same'} again, as layers[${first}] is` })
  })
  return [...problems, ...findProblemsOfCompanions(product, manifest.layers, manifest.conditions)]
}
