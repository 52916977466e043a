import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Extension } from '@electric-sql/pglite'
import { postgis } from '@electric-sql/pglite-postgis'

/** Half of the archive: other extensions, of which each start would compile a large one, and scripts for upgrades. */
const UNUSED = /topology|tiger|address_standardizer|sfcgal|--unpackaged|--ANY|\/contrib\//

/** A tar archive has blocks: one for the name and size of a file, then its bytes. */
const BLOCK = 512
const NAME = { start: 0, end: 100 }
const SIZE = { start: 124, end: 136 }

/** The used files of PostGIS, as a tar archive; the buffer has nothing else. */
export async function readUsedFiles(compressed: URL): Promise<Buffer> {
  const bytes = await readFile(compressed)
  // In one piece: its size is at the end.
  const size = bytes.readUInt32LE(bytes.length - 4)
  const archive = await promisify(gunzip)(bytes, { chunkSize: Math.max(size, BLOCK) })
  const used: Buffer[] = []
  let at = 0
  while (at < archive.length && archive[at] !== 0) {
    const name = textIn(archive, at, NAME)
    const length = Number.parseInt(textIn(archive, at, SIZE), 8)
    if (!Number.isSafeInteger(length)) throw new Error(`the archive says no size of ${name}`)
    const end = at + BLOCK + Math.ceil(length / BLOCK) * BLOCK
    if (!UNUSED.test(name)) used.push(archive.subarray(at, end))
    at = end
  }
  // Two empty blocks are its end.
  return Buffer.concat([...used, Buffer.alloc(2 * BLOCK)])
}

function textIn(archive: Buffer, at: number, { start, end }: { start: number; end: number }): string {
  return archive.toString('latin1', at + start, at + end).split('\0')[0] as string
}

/**
 * PostGIS for PGlite, with a symbol without which `create extension postgis_raster` fails silently: it registers destructors
 * of thread-local objects, and there are no threads that could end.
 *
 * @param hear receives the lines of the server's standard error, which PGlite drops
 */
export function postgisWithRaster(hear: (line: string) => void): Extension {
  return {
    ...postgis,
    async setup(pg, emscriptenOpts) {
      const { bundlePath, ...result } = await postgis.setup(pg, emscriptenOpts)
      const extensions = bundlePath ? { postgis: blobOf(readUsedFiles(bundlePath)) } : {}
      const options = { ...emscriptenOpts, ...result.emscriptenOpts, printErr: hear }
      const { instantiateWasm } = options
      return {
        ...result,
        emscriptenOpts: {
          ...options,
          // PGlite would set its own archive, of 3,000 pieces with copies of 50 MB.
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

/** A real blob would make two more copies, and stay: PGlite unpacks the archive once, and keeps its options. */
async function blobOf(bytes: Promise<Buffer>): Promise<Pick<Blob, 'arrayBuffer'>> {
  const archives = [(await bytes).buffer as ArrayBuffer]
  return {
    async arrayBuffer() {
      const archive = archives.pop() as ArrayBuffer
      unpacked.push(archive)
      return archive
    },
  }
}

const unpacked: ArrayBuffer[] = []

/** What of the file system of PGlite frees memory. */
interface Files {
  truncate(path: string, length: number): void
}

const MODULES = ['postgis-3', 'postgis_raster-3'].map((name) => `/pglite/lib/postgresql/${name}.so`)

/** Frees 80 MB after the modules are loaded: their files, and the archive, which closures of PGlite (0.5.8) hold. */
export function freeArchive(files: Files): void {
  for (const path of MODULES) files.truncate(path, 0)
  for (const archive of unpacked.splice(0)) structuredClone(archive, { transfer: [archive] })
}

/** A function of each module of PostgreSQL. */
const MAGIC = 'Pg_magic_func'

/**
 * Makes `Object.keys` list the exports of a module once. PGlite (0.5.8) lists thousands of PostGIS for each of the 1,200
 * functions that `create extension postgis` looks up. For the thread of the database alone.
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
