import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { Ajv, type ErrorObject } from 'ajv'
import { type Static, Type } from 'typebox'
import { LineCounter, parseDocument } from 'yaml'
import { ProductSchema } from '#schemas/common.ts'
import { OperatorError } from '#src/errors.ts'
import { PRODUCT_RULES } from '#src/products/rules.ts'

const Label = Type.String({ minLength: 1, maxLength: 100, pattern: '^\\S(.*\\S)?$' })

const LayerEntry = Type.Object(
  {
    file: Type.String({ minLength: 1 }),
    band: Type.Integer({ minimum: 1, default: 1 }),
    input: Type.Optional(Label),
    scenario: Type.Optional(Label),
    unit: Type.String(),
    scale: Type.Optional(Type.Number()),
    offset: Type.Optional(Type.Number()),
    nodata: Type.Optional(Type.Union([Type.Number(), Type.Literal('nan'), Type.Literal('none')])),
    srid: Type.Optional(Type.Integer({ minimum: 1 })),
    decimals: Type.Optional(Type.Integer({ minimum: 0, maximum: 10 })),
  },
  { additionalProperties: false },
)

const ManifestFile = Type.Object(
  {
    product: ProductSchema,
    country_code: Type.String({ pattern: '^[a-z]{3}$' }),
    crop: Type.Optional(Type.String({ pattern: '^[a-z][a-z0-9-]*$' })),
    forecast_period: Type.Optional(Type.String({ pattern: '^[0-9]{4}-(0[1-9]|1[0-2])$' })),
    source: Type.String({ minLength: 1, maxLength: 1000 }),
    licence: Type.String({ minLength: 1, maxLength: 200 }),
    layers: Type.Array(LayerEntry, { minItems: 1, maxItems: 256 }),
  },
  { additionalProperties: false },
)

/** A release as the operator describes it; files are absolute paths. */
export type Manifest = Static<typeof ManifestFile>
export type ManifestLayer = Manifest['layers'][number]

const validate = new Ajv({ allErrors: true, useDefaults: true, allowUnionTypes: true }).compile<Manifest>(
  ManifestFile,
)

/** How the values of the patterns above are explained to a person. */
const FORMS: Record<string, string> = {
  country_code: 'a country code such as "eth"',
  crop: 'a crop code such as "wheat"',
  forecast_period: 'a month such as "2026-07"',
  input: 'a name of at most 100 characters without spaces around it',
  scenario: 'a name of at most 100 characters without spaces around it',
}

/**
 * Reads and checks a manifest. Files are looked for beside it unless their paths are absolute.
 *
 * @throws {OperatorError} lists every mistake with its line, its path and what is allowed
 */
export async function readManifest(path: string): Promise<Manifest> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new OperatorError(
      error.code === 'ENOENT' ? `${path} does not exist.` : `${path} cannot be read: ${error.message}.`,
    )
  })
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines })
  const [syntax] = document.errors
  if (syntax) {
    const { line } = lines.linePos(syntax.pos[0])
    throw new OperatorError(
      `${path}:${line}: is not YAML: ${syntax.message.replace(/ at line \d[\s\S]*/, '')}`,
    )
  }

  const manifest: unknown = document.toJS()
  const problems = validate(manifest) ? problemsOf(manifest) : (validate.errors ?? []).map(describe)
  if (problems.length > 0) {
    throw new OperatorError(
      [...new Map(problems.map((problem) => [problem.path.join('.') + problem.message, problem])).values()]
        .map(({ path: place, message }) => `${path}:${lineOf(place)}: ${pathText(place)}${message}`)
        .join('\n'),
    )
  }
  const { layers, ...rest } = manifest as Manifest
  return { ...rest, layers: layers.map((layer) => ({ ...layer, file: resolve(dirname(path), layer.file) })) }

  /** The line of the value, or of the nearest thing around it that is there. */
  function lineOf(place: (string | number)[]): number {
    for (let length = place.length; length > 0; length--) {
      const node = document.getIn(place.slice(0, length), true) as
        | { range?: [number, number, number] }
        | undefined
      if (node?.range) return lines.linePos(node.range[0]).line
    }
    return 1
  }
}

interface Problem {
  path: (string | number)[]
  message: string
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
    const known = Object.keys(path.length === 0 ? ManifestFile.properties : LayerEntry.properties)
    return {
      path: [...path, params.additionalProperty],
      message: `is not known; allowed here: ${known.join(', ')}`,
    }
  }
  if (keyword === 'enum') return { path, message: `must be one of ${params.allowedValues.join(', ')}` }
  if (keyword === 'pattern' || (FORMS[field] && keyword === 'type'))
    return { path, message: `must be ${FORMS[field]}` }
  if (keyword === 'minItems') return { path, message: 'must have at least one entry' }
  if (keyword === 'minLength') return { path, message: 'must not be empty' }
  if (keyword === 'type' && params.type === 'object') {
    return { path, message: 'must be a mapping of keys to values' }
  }
  if (field === 'nodata') return { path, message: 'must be a number, nan or none' }
  return { path, message: error.message ?? 'is not valid' }
}

/** What a schema cannot say: the rules of the product, and that no layer comes twice. */
function problemsOf(manifest: Manifest): Problem[] {
  const rules = PRODUCT_RULES[manifest.product]
  const problems: Problem[] = []
  const need = (path: (string | number)[], wanted: boolean, value: unknown, why: string) => {
    if (wanted && value === undefined) problems.push({ path, message: `is missing: ${why}` })
    if (!wanted && value !== undefined) problems.push({ path, message: `is not allowed: ${why}` })
  }
  const { product } = manifest
  need(
    ['crop'],
    rules.perSeason,
    manifest.crop,
    `${product} releases are ${rules.perSeason ? '' : 'not '}made for a crop`,
  )
  need(
    ['forecast_period'],
    rules.perSeason,
    manifest.forecast_period,
    `${product} releases are ${rules.perSeason ? '' : 'not '}made for a month`,
  )
  const seen = new Map<string, number>()
  manifest.layers.forEach((layer, index) => {
    const at = ['layers', index]
    need(
      [...at, 'input'],
      rules.input !== null,
      layer.input,
      rules.input ? `it names ${rules.input}` : `${product} layers have none`,
    )
    need(
      [...at, 'scenario'],
      rules.perSeason,
      layer.scenario,
      `${product} layers ${rules.perSeason ? 'are for a scenario' : 'have none'}`,
    )
    if (layer.unit !== rules.unit) {
      problems.push({
        path: [...at, 'unit'],
        message: `must be ${rules.unit} for ${product}; for values in another unit, give the scale that turns them into ${rules.unit}`,
      })
    }
    if (layer.scale === 0) problems.push({ path: [...at, 'scale'], message: 'must not be 0' })
    const key = [layer.input, layer.scenario].filter(Boolean).join(', ')
    const first = seen.get(key)
    if (first === undefined) seen.set(key, index)
    else problems.push({ path: at, message: `is for ${key || 'the same'} again, as layers[${first}] is` })
  })
  return problems
}
