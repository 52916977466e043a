import type { Extension } from '@electric-sql/pglite'
import { postgis } from '@electric-sql/pglite-postgis'
import { readBundle } from './bundle.ts'

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
