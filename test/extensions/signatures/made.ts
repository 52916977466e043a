import { generateKeyPairSync } from 'node:crypto'
import type { Database } from '#src/data/database.ts'
import { openGeoTiffs } from '#src/ingest/geotiff/source.ts'
import { type LoadedRelease, type LoadOptions, loadRelease } from '#src/ingest/load.ts'
import { readManifest } from '#src/ingest/manifest.ts'

export const EXAMPLE = 'examples/rwanda/potato-2026-08.yaml'

export function makeKey(): string {
  const { privateKey } = generateKeyPairSync('ed25519')
  return String(privateKey.export({ format: 'pem', type: 'pkcs8' }))
}

/** Loads the rasters of a manifest, without the checks of the command. */
export async function loadFiles(
  database: Database,
  manifest = EXAMPLE,
  options: LoadOptions = {},
): Promise<LoadedRelease> {
  const source = await openGeoTiffs(database.writer, await readManifest(manifest))
  try {
    return await loadRelease(database, source, options)
  } finally {
    await source.close()
  }
}
