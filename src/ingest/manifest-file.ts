import { readdir } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { type Static, Type } from 'typebox'
import { productSchema } from '#schemas/product.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { CHECK_NAMES } from '#src/data/rights.ts'
import { OperatorError } from '#src/errors.ts'
import { codeOf, messageOf } from '#src/lib/promises.ts'
import { isArchive, openArchive } from './archive.ts'

const Label = Type.String({ minLength: 1, maxLength: 100, pattern: '^\\S(.*\\S)?$' })

/** WKT has one or two thousand characters. */
const MAX_CRS_LENGTH = 20_000

/** Names with `*` may find more. */
const MAX_FILES = 256

export const LayerEntry = Type.Object(
  {
    file: Type.Optional(Type.String({ minLength: 1 })),
    files: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: MAX_FILES })),
    band: Type.Union([Type.Integer({ minimum: 1 }), Type.String()], { default: 1 }),
    input: Type.Optional(Label),
    scenario: Type.Optional(Label),
    unit: Type.String(),
    scale: Type.Optional(Type.Number()),
    offset: Type.Optional(Type.Number()),
    nodata: Type.Optional(Type.Union([Type.Number(), Type.Literal('nan'), Type.Literal('none')])),
    mask: Type.Optional(Type.Literal('none')),
    srid: Type.Optional(Type.Integer({ minimum: 1 })),
    srs: Type.Optional(Type.String({ minLength: 1, maxLength: MAX_CRS_LENGTH })),
    decimals: Type.Optional(Type.Integer({ minimum: 0, maximum: 10 })),
  },
  { additionalProperties: false },
)

const MAX_LAYERS = 256

export function manifestFileOf(products: readonly ProductDefinition[]) {
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
      layers: Type.Array(LayerEntry, { minItems: 1, maxItems: MAX_LAYERS }),
    },
    { additionalProperties: false },
  )
}

export type ManifestFile = Static<ReturnType<typeof manifestFileOf>>

type LayerText = Static<typeof LayerEntry>

/** Decimals default to the product's. */
export interface ManifestLayer extends Omit<LayerText, 'file' | 'files'> {
  /** Absolute paths and addresses. */
  files: readonly [string, ...string[]]
  decimals: number
}

/** A checked manifest. */
export type Manifest = Omit<ManifestFile, 'layers'> & { layers: ManifestLayer[] }

/**
 * `*` stands for any part of a name; matches are sorted.
 *
 * @param folder the base of relative paths
 */
export async function pathsOf(folder: string, names: string[]): Promise<[string, ...string[]]> {
  const paths: string[] = []
  for (const name of names) {
    if (isAddress(name)) {
      paths.push(name)
      continue
    }
    const path = resolve(folder, name)
    paths.push(...(basename(path).includes('*') ? await findAll(path) : [path]))
  }
  return [...new Set(paths)] as [string, ...string[]]
}

export function isAddress(name: string): boolean {
  return /^https?:/i.test(name)
}

async function findAll(pattern: string): Promise<string[]> {
  const folder = dirname(pattern)
  const names = await readdir(folder).catch((error) => {
    if (codeOf(error) === 'ENOTDIR' && isArchive(folder)) return namesIn(folder)
    if (codeOf(error) === 'ENOENT')
      throw new OperatorError(`${folder} does not exist.`, { code: 'NOT_FOUND' })
    throw new OperatorError(`${folder} cannot be read: ${messageOf(error)}.`)
  })
  const found = names.filter((name) => fits(name, basename(pattern).split('*')))
  if (found.length === 0) throw new OperatorError(`${pattern} fits no file.`)
  return found.toSorted().map((name) => join(folder, name))
}

async function namesIn(path: string): Promise<string[]> {
  const { names, close } = await openArchive(path, path)
  close()
  return names.filter((name) => !name.includes('/'))
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
