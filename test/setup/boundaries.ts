import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Database } from '#src/data/database.ts'
import type { FeatureReading } from '#src/ingest/boundaries/feature.ts'
import { type FileReport, type LoadRequest, loadBoundaries } from '#src/ingest/boundaries/load.ts'
import { openBoundaryFile } from '#src/ingest/boundaries/open.ts'
import { newFolder } from './folders.ts'
import { SHARED_BOUNDARIES } from './shared-data.ts'

export { rectangle } from './square.ts'

/** The files of the folder: country, level and how many areas they have. */
export const SHARED_FILES: [country: string, level: number, count: number][] = [
  ['eth', 0, 1],
  ['eth', 1, 13],
  ['eth', 2, 92],
  ['rwa', 0, 1],
  ['rwa', 1, 5],
  ['rwa', 2, 30],
  ['rwa', 3, 416],
  ['gha', 0, 1],
  ['gha', 1, 16],
]

export function sharedFile(country: string, level: number): string {
  return join(SHARED_BOUNDARIES, `${country}_adm${level}.geojson`)
}

/** Loads a file as an operator would; undefined where that changed nothing. */
export async function loadFile(
  database: Database,
  path: string,
  country: string,
  level: number,
  options: Partial<LoadRequest> & Partial<FeatureReading> = {},
): Promise<FileReport | undefined> {
  const { encoding, layer, ...request } = options
  const reading = { ...(encoding && { encoding }), ...(layer && { layer }) }
  const { report } = await loadBoundaries(database, {
    files: [await openBoundaryFile(path, { level, ...reading })],
    country,
    level,
    properties: {},
    source: 'A test',
    licence: 'CC0-1.0',
    strict: false,
    dryRun: false,
    ...request,
  })
  return report
}

export async function loadSharedBoundaries(database: Database): Promise<void> {
  for (const [country, level] of SHARED_FILES) {
    await loadFile(database, sharedFile(country, level), country, level)
  }
}

/** A feature with the given properties. */
export function feature(properties: Record<string, unknown> | null, geometry: unknown): object {
  return { type: 'Feature', properties, geometry }
}

/** Writes text, or features as a FeatureCollection, into a file of its own; returns its path. */
export async function boundaryFile(
  content: string | Buffer | object[],
  name = 'areas.geojson',
): Promise<string> {
  const path = join(await newFolder(), name)
  const isText = typeof content === 'string' || Buffer.isBuffer(content)
  await writeFile(path, isText ? content : JSON.stringify({ type: 'FeatureCollection', features: content }))
  return path
}
