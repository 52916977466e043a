import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { constants, gunzip, gzip } from 'node:zlib'
import type { Extension } from '@electric-sql/pglite'
import { postgis } from '@electric-sql/pglite-postgis'

/**
 * What of PostGIS nobody here asks for: other extensions, of which one is as large as PostGIS and would be compiled at
 * each start, and scripts for upgrades. What is left is half of it.
 */
const UNUSED = /topology|tiger|address_standardizer|sfcgal|--unpackaged|--ANY|\/contrib\//

/** A first start has enough to do: the smaller archive is for the next one. */
const MAKE_AFTER_MS = 30_000

/** A tar archive is made of blocks: one for the name and the size of a file, then those of its bytes. */
const BLOCK = 512
const NAME = { start: 0, end: 100 }
const SIZE = { start: 124, end: 136 }

/**
 * The archive with the files of PostGIS that a start takes: the smaller one that an earlier start has made of the
 * whole one, where there is one and it is as it was written. Otherwise it is the whole one, and the smaller one is made
 * some time later; where that cannot be done, the next start takes as long as this one.
 *
 * @param whole what came with the package
 * @param folder of the smaller one, which has nothing else
 */
export function bundleFor(whole: URL, folder: string, makeAfterMs = MAKE_AFTER_MS): URL {
  const origin = originOf(whole)
  const small = filesIn(folder).find((name) => name.startsWith(origin))
  if (small && small === nameOf(origin, readFileSync(join(folder, small)))) {
    return pathToFileURL(join(folder, small))
  }
  setTimeout(() => writeSmaller(whole, folder).catch(() => {}), makeAfterMs).unref()
  return whole
}

/** What the name of a smaller archive begins with: what it was made of, and what was left out. */
function originOf(whole: URL): string {
  return `postgis-${statSync(whole).size}-${checksumOf(UNUSED.source)}-`
}

function nameOf(origin: string, archive: Buffer): string {
  return `${origin}${checksumOf(archive)}.tar.gz`
}

function checksumOf(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 16)
}

/**
 * The files of PostGIS that a start takes, as a tar archive.
 *
 * @param whole what came with the package
 * @param folder of the smaller archive
 */
export async function readBundle(whole: URL, folder: string): Promise<Buffer> {
  const archive = bundleFor(whole, folder)
  const files = await decompressed(archive)
  return archive === whole ? withoutUnused(files) : files
}

/** All of it in one piece: its size is said at its end. */
async function decompressed(archive: URL): Promise<Buffer> {
  const compressed = await readFile(archive)
  const size = compressed.readUInt32LE(compressed.length - 4)
  return promisify(gunzip)(compressed, { chunkSize: Math.max(size, BLOCK) })
}

function filesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : []
}

/** Makes the smaller archive of the whole one, in a folder that has nothing else. */
export async function writeSmaller(whole: URL, folder: string): Promise<void> {
  const archive = withoutUnused(await decompressed(whole))
  const compressed = await promisify(gzip)(archive, { level: constants.Z_BEST_SPEED })
  const name = nameOf(originOf(whole), compressed)
  await mkdir(folder, { recursive: true })
  const unfinished = join(folder, 'unfinished')
  try {
    await writeFile(unfinished, compressed, { flush: true })
    await rename(unfinished, join(folder, name))
  } catch (error) {
    // A disk that is full needs the room for other things.
    await rm(unfinished, { force: true })
    throw error
  }
  for (const other of filesIn(folder)) if (other !== name) await rm(join(folder, other))
}

/** A tar archive without the unused files. */
function withoutUnused(archive: Buffer): Buffer {
  const kept: Buffer[] = []
  let at = 0
  while (at < archive.length && archive[at] !== 0) {
    const name = textIn(archive, at, NAME)
    const bytes = Number.parseInt(textIn(archive, at, SIZE), 8)
    if (!Number.isSafeInteger(bytes)) throw new Error(`the archive says no size of ${name}`)
    const end = at + BLOCK + Math.ceil(bytes / BLOCK) * BLOCK
    if (!UNUSED.test(name)) kept.push(archive.subarray(at, end))
    at = end
  }
  // Two empty blocks are its end.
  return Buffer.concat([...kept, Buffer.alloc(2 * BLOCK)])
}

function textIn(archive: Buffer, at: number, { start, end }: { start: number; end: number }): string {
  return archive.toString('latin1', at + start, at + end).split('\0')[0] as string
}

/**
 * PostGIS for PGlite, with the one symbol that postgis_raster's WASM module asks for and the host
 * does not give. Without it `create extension postgis_raster` fails, and fails silently. It registers
 * destructors of thread-local objects; there are no threads in there that could end.
 *
 * @param hear is told each line that the server writes on its standard error: PGlite throws it away
 * @param bundleFolder where an archive of its files is kept that takes less time to read than that of the package
 */
export function postgisWithRaster(hear: (line: string) => void, bundleFolder: string): Extension {
  return {
    ...postgis,
    async setup(pg, emscriptenOpts) {
      const { bundlePath, ...result } = await postgis.setup(pg, emscriptenOpts)
      const extensions = bundlePath ? { postgis: blobOf(readBundle(bundlePath, bundleFolder)) } : {}
      const options = { ...emscriptenOpts, ...result.emscriptenOpts, printErr: hear }
      const { instantiateWasm } = options
      return {
        ...result,
        emscriptenOpts: {
          ...options,
          // PGlite would set what it has read itself, in 3,000 pieces, of which it makes copies of 50 MB.
          get pg_extensions() {
            return extensions
          },
          set pg_extensions(_) {},
          instantiateWasm(imports: { env: object }, done: unknown) {
            Object.assign(imports.env, { __cxa_thread_atexit: () => 0 })
            return instantiateWasm(imports, done)
          },
        },
      }
    },
  }
}

/** All that PGlite asks of a blob; a real one would be two copies more. */
async function blobOf(bytes: Promise<Buffer>): Promise<Pick<Blob, 'arrayBuffer'>> {
  const { buffer, byteOffset, byteLength } = await bytes
  return { arrayBuffer: async () => buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer }
}

/** By this function a module tells PostgreSQL which version it is made for. */
const MAGIC = 'Pg_magic_func'

/**
 * Makes `Object.keys` list only once what a module of PostgreSQL exports. PGlite (0.5.8) lists it for each function that it
 * looks up, and PostGIS exports thousands: `create extension postgis` looks up 1,200.
 *
 * For a thread in which nothing but the database runs.
 */
export function listExportsOnce(): void {
  const { keys } = Object
  const lists = new WeakMap<object, string[]>()
  Object.keys = (of: object) => {
    if (!Object.hasOwn(of, MAGIC)) return keys(of)
    const list = lists.get(of) ?? keys(of)
    lists.set(of, list)
    return list
  }
}
