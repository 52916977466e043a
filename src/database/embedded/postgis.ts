import type { Extension } from '@electric-sql/pglite'
import { postgis } from '@electric-sql/pglite-postgis'
import { bundleFor } from './bundle.ts'

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
      const result = await postgis.setup(pg, emscriptenOpts)
      const options = { ...emscriptenOpts, ...result.emscriptenOpts, printErr: hear }
      const { instantiateWasm } = options
      return {
        ...result,
        ...(result.bundlePath && { bundlePath: bundleFor(result.bundlePath, bundleFolder) }),
        emscriptenOpts: {
          ...options,
          instantiateWasm(imports: { env: object }, done: unknown) {
            Object.assign(imports.env, { __cxa_thread_atexit: () => 0 })
            return instantiateWasm(imports, done)
          },
        },
      }
    },
  }
}
