import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stringify } from 'yaml'
import type { Products } from '#schemas/products/define.ts'
import type { Database } from '#src/data/database.ts'
import { openGeoTiffs } from '#src/ingest/geotiff/source.ts'
import { type LoadedRelease, loadRelease } from '#src/ingest/load.ts'
import { readManifest } from '#src/ingest/manifest.ts'
import { refuseUnknownSeries } from '#src/ingest/queries.ts'

/** The path of a GeoTIFF that test/fixtures/make-rasters.py has made. */
export function fixture(name: string): string {
  return fileURLToPath(new URL(`../fixtures/rasters/${name}`, import.meta.url))
}

/** The path of a file that test/fixtures/raster_kinds.py has made. */
export function kindFixture(name: string): string {
  return fileURLToPath(new URL(`../fixtures/raster-kinds/${name}`, import.meta.url))
}

/** What a test says of a layer; the unit is kg/ha. */
export interface LayerText {
  file?: string
  files?: string[]
  [key: string]: unknown
}

/** A manifest as an operator would write it, of a series that has nothing to do with what is tested. */
export function manifestText(layers: LayerText[], settings: Record<string, unknown> = {}): string {
  return stringify({
    product: 'yield',
    country_code: 'eth',
    crop: 'wheat',
    forecast_period: '2025-01',
    source: 'A test',
    licence: 'CC0-1.0',
    ...settings,
    layers: layers.map((layer) => ({
      unit: 'kg/ha',
      ...(settings.product === 'forage' ? {} : { scenario: 'Normal' }),
      ...layer,
    })),
  })
}

/** Writes a manifest into a folder. */
export async function writeManifest(folder: string, text: string, name = 'manifest.yaml'): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, text)
  return path
}

/** Ingests a manifest as the command does, without the command. */
export async function ingestManifest(
  database: Database,
  path: string,
  { products, ...options }: { publish?: boolean; products?: Products } = {},
): Promise<LoadedRelease & { notes: string[] }> {
  const manifest = await readManifest(path, products)
  await refuseUnknownSeries(database.writer, manifest)
  const release = await openGeoTiffs(database.writer, manifest)
  try {
    return {
      ...(await loadRelease(database, release, options)),
      notes: [...release.notes, ...release.notHonoured],
    }
  } finally {
    await release.close()
  }
}
