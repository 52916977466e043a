import { givenEncoding } from '#src/ingest/boundaries/encoding.ts'
import type { Reading } from '#src/ingest/boundaries/feature.ts'

/** What files of boundaries may be. */
export const FILES =
  'GeoJSON FeatureCollections, shapefiles (.shp), zip archives of one of them, or GeoPackages (.gpkg)'

export const LAYER_OPTION = ['--layer <name>', 'which layer of a GeoPackage, or file of an archive'] as const

export const ENCODING_OPTION = [
  '--encoding <name>',
  'what the texts of a shapefile are in, such as windows-1252; by its label when left out',
] as const

/** What is said about how files are to be read. */
export interface ReadingOptions {
  encoding?: string
  layer?: string
}

/** @throws {OperatorError} where the encoding is not known */
export function readingOf({ encoding, layer }: ReadingOptions): Reading {
  return {
    ...(layer !== undefined && { layer }),
    ...(encoding !== undefined && { encoding: givenEncoding(encoding) }),
  }
}
