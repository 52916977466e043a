import { generateKeyPairSync } from 'node:crypto'
import type { Database } from '#src/data/client.ts'
import { openGeoTiffs } from '#src/ingest/geotiff/source.ts'
import { type LoadedRelease, loadRelease } from '#src/ingest/load.ts'
import { readManifest } from '#src/ingest/manifest.ts'

export const EXAMPLE = 'examples/rwanda/potato-2026-08.yaml'

export function makeKey(): string {
  const { privateKey } = generateKeyPairSync('ed25519')
  return String(privateKey.export({ format: 'pem', type: 'pkcs8' }))
}

/** Loads the rasters of a manifest, without the checks of the command. */
export async function loadFiles(database: Database, manifest = EXAMPLE): Promise<LoadedRelease> {
  const source = await openGeoTiffs(database.writer, await readManifest(manifest))
  try {
    return await loadRelease(database, source)
  } finally {
    await source.close()
  }
}
