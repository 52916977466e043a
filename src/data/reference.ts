import { readFile } from 'node:fs/promises'
import { Ajv } from 'ajv'
import { type Static, Type } from 'typebox'
import { parse } from 'yaml'
import { OperatorError } from '#src/errors.ts'
import { nameKey, wordKey } from '#src/lib/names.ts'
import type { Trx } from './tables.ts'

/** Migrations, functions and the reference file. */
export const SQL_FOLDER = new URL('../../sql/', import.meta.url)

/** Content of a new database, in {@link SQL_FOLDER}. */
export const REFERENCE_FILE = 'reference/countries-and-crops.yaml'

const Name = Type.String({ minLength: 1, maxLength: 100 })
const Aliases = Type.Array(Name, { default: [] })

/** By product. */
const Ranges = Type.Record(
  Type.String(),
  Type.Object(
    {
      minimum: Type.Number(),
      maximum: Type.Number(),
      largest_from: Type.Optional(Type.Number()),
      mean_to: Type.Optional(Type.Number()),
    },
    { additionalProperties: false, required: ['minimum', 'maximum'] },
  ),
  { default: {} },
)

const Reference = Type.Object(
  {
    crops: Type.Array(
      Type.Object(
        {
          code: Type.String({ pattern: '^[a-z][a-z0-9-]*$' }),
          name: Name,
          aliases: Aliases,
          plausible: Ranges,
        },
        { additionalProperties: false, required: ['code', 'name'] },
      ),
    ),
    countries: Type.Array(
      Type.Object(
        {
          code: Type.String({ pattern: '^[a-z]{3}$' }),
          name: Name,
          aliases: Aliases,
          crops: Type.Array(Type.String(), { default: [] }),
          extent: Type.Optional(Type.Array(Type.Number(), { minItems: 4, maxItems: 4 })),
        },
        { additionalProperties: false, required: ['code', 'name'] },
      ),
    ),
  },
  { additionalProperties: false },
)

type Reference = Static<typeof Reference>

const validate = new Ajv({ useDefaults: true }).compile<Reference>(Reference)

/** @throws {OperatorError} names the mistake in the file */
export async function readReference(folder = SQL_FOLDER): Promise<Reference> {
  const content: unknown = parse(await readFile(new URL(REFERENCE_FILE, folder), 'utf8'))
  if (validate(content)) return content
  const [error] = validate.errors ?? []
  throw new OperatorError(`${REFERENCE_FILE} is not valid: ${error?.instancePath || '/'}: ${error?.message}.`)
}

/** Replaces all countries and crops of a new database. */
export async function insertReference(trx: Trx, reference: Reference): Promise<void> {
  try {
    for (const table of ['country_crop', 'country_alias', 'crop_alias', 'country', 'crop'] as const) {
      await trx.deleteFrom(table).execute()
    }
    for (const crop of reference.crops) await insertCrop(trx, crop)
    for (const country of reference.countries) await insertCountry(trx, country)
  } catch (error) {
    throw new OperatorError(`${REFERENCE_FILE} could not be applied: ${(error as Error).message}.`)
  }
}

async function insertCrop(trx: Trx, crop: Reference['crops'][number]): Promise<void> {
  const { code, name, plausible } = crop
  await trx.insertInto('crop').values({ code, name }).execute()
  const keys = keysOf(crop, wordKey).map((alias) => ({ alias, crop_code: code }))
  await trx.insertInto('crop_alias').values(keys).execute()
  for (const [product, range] of Object.entries(plausible)) {
    await trx
      .insertInto('plausible_range')
      .values({ product, crop_code: code, ...range })
      .execute()
  }
}

async function insertCountry(trx: Trx, country: Reference['countries'][number]): Promise<void> {
  const { code, name, crops, extent = [] } = country
  const [west = null, south = null, east = null, north = null] = extent
  await trx.insertInto('country').values({ code, name, west, south, east, north }).execute()
  const keys = keysOf(country, nameKey).map((alias) => ({ alias, country_code: code }))
  await trx.insertInto('country_alias').values(keys).execute()
  for (const crop_code of crops) {
    await trx.insertInto('country_crop').values({ country_code: code, crop_code }).execute()
  }
}

function keysOf(
  { code, name, aliases }: { code: string; name: string; aliases: string[] },
  keyOf: (name: string) => string,
): string[] {
  return [...new Set([code, name, ...aliases].map(keyOf))]
}
