import { randomBytes } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import { extname } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { InvalidArgumentError, Option } from 'commander'
import { MOST_LIKELY } from '#schemas/map.ts'
import { PRODUCTS } from '#schemas/products/index.ts'
import { command, lookInDatabase } from '#src/cli/command.ts'
import { type Output, pathNamed, undoneByInterrupt } from '#src/cli/terminal.ts'
import type { Config } from '#src/config.ts'
import type { Database } from '#src/data/database.ts'
import { createTileStores } from '#src/data/tiles/stores.ts'
import { ApiError, BASE, OperatorError } from '#src/errors.ts'
import { createEventLoopQueue } from '#src/lib/limiter.ts'
import { formatError, readErrorCode } from '#src/lib/promises.ts'
import { createLookup } from '#src/lookup/lookup.ts'
import { createMaps } from '#src/maps/maps.ts'
import type { LayerWish } from './mbtiles.ts'
import { type PreparedPack, preparePack } from './pack.ts'
import { PACK_FORMATS, type PackFormat } from './schemas.ts'

interface PackOptions extends Output {
  country: string
  out: string
  format?: PackFormat
  level?: number
  release?: string
  layer?: LayerWish['layer']
}

export const packCommand = command({
  usage: 'pack <area>',
  description: 'Write all that is published of an area into one file, for use without a network.',
  parameters: ['its code'],
  options: [
    new Option('--country <code>', 'the country of the area').makeOptionMandatory(),
    new Option('--out <file>', 'the file to write; an older one is replaced').makeOptionMandatory(),
    new Option('--format <format>', 'as the ending of the file says, when left out').choices(PACK_FORMATS),
    new Option('--level <number>', 'of areas with the same code, that of this level').argParser(readNumber),
    ['--release <code>', 'for mbtiles: a release of the pack, of which they show a layer'],
    new Option('--layer <number>', `for mbtiles: its layer, from 1, or ${MOST_LIKELY}`).argParser((text) =>
      text === MOST_LIKELY ? MOST_LIKELY : readNumber(text),
    ),
  ],
  help: `
The file is that of the service at /packs/COUNTRY/AREA.FORMAT; a page says another time. docs/guide/packs.md
describes the formats.`,
  examples: [
    'agro pack ETH-01 --country eth --out addis.csv',
    'agro pack RWA-02 --country rwa --format mbtiles --layer 2 --out southern.mbtiles',
  ],
  run: ({ json: _, ...options }: PackOptions, code: string) =>
    lookInDatabase(async (database, config) => {
      const format = options.format ?? readFormat(options.out)
      const pack = await preparePackAlone(database, config, { ...options, code, format }).catch(refuse)
      const bytes = await undoneByInterrupt((signal) => writeFile(pack, pathNamed(options.out), signal))
      const value = { area: code, format, file: options.out, bytes, etag: pack.tag }
      return [value, `${options.out} has ${bytes} bytes.`]
    }),
})

function readNumber(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a number.')
}

function readFormat(file: string): PackFormat {
  const ending = extname(file).slice(1).toLowerCase()
  const format = PACK_FORMATS.find((one) => one === ending)
  if (format) return format
  throw new OperatorError(
    `The ending of ${file} is no format: name one of ${PACK_FORMATS.join(', ')} with --format.`,
  )
}

/** As the service prepares it, in a process without one. */
async function preparePackAlone(
  database: Database,
  config: Config,
  asked: PackOptions & { code: string; format: PackFormat },
): Promise<PreparedPack> {
  const { code, country, level = null, format, release, layer } = asked
  if (format !== 'mbtiles' && (release ?? layer) !== undefined) {
    throw new OperatorError('--release and --layer choose what mbtiles show: other formats have all of it.')
  }
  const slices = createEventLoopQueue(Number.POSITIVE_INFINITY)
  const tiles = await createTileStores(database)
  const app = { config, database, products: PRODUCTS, tiles, slices }
  const lookup = createLookup(app)
  const area = { countryCode: country.trim(), code: code.trim(), level }
  const wish = { format, area, release, layer }
  return preparePack({ app, lookup, maps: createMaps(app, lookup) }, await lookup.current(), wish)
}

function refuse(error: unknown): never {
  if (!(error instanceof ApiError)) throw error
  if (error.status < 500) throw new OperatorError(error.message.replaceAll(BASE, ''))
  throw new OperatorError('A release or the boundaries were replaced meanwhile: make it once more.')
}

/** The file is there once it is whole. */
async function writeFile(pack: PreparedPack, path: string, signal: AbortSignal): Promise<number> {
  const part = `${path}.${randomBytes(6).toString('hex')}`
  let bytes = 0
  try {
    const file = await open(part, 'wx')
    try {
      for await (const piece of pack.pieces(() => setImmediate())) {
        signal.throwIfAborted()
        await file.writeFile(piece)
        bytes += piece.length
      }
    } finally {
      await file.close()
    }
    await rename(part, path)
    return bytes
  } catch (error) {
    await rm(part, { force: true })
    if (error instanceof ApiError) refuse(error)
    if (readErrorCode(error) === undefined) throw error
    throw new OperatorError(`${path} cannot be written: ${formatError(error)}.`)
  }
}
