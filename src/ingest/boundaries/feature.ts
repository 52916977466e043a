import type { Encoding } from './code-pages.ts'

/**
 * Positions of a feature at most: one feature is in memory at a time. The outlines of countries that are drawn
 * finest have some hundred thousand, and `ogr2ogr -simplify` makes them fewer.
 */
export const MAX_POSITIONS = 500_000

/** A feature as a file has it: nothing of it has been checked. */
export interface RawFeature {
  /** Its place in the file, from 1. */
  number: number
  /** Which part of the file has been read with it, from 0 to 1. */
  read: number
  properties: Record<string, unknown>
  geometry: unknown
}

/** How a file is to be read. */
export interface Reading {
  /** The level of the areas that are wanted: a file may hold several. Undefined where any are. */
  level?: number
  /** What texts are in, where the file does not say, or not truly. */
  encoding?: Encoding
  /** Which layer is meant, where a file has several. */
  layer?: string
}

/** Is told what had to be guessed about a file. */
export type Noted = (note: string) => void

/** A file of features. */
export interface FeatureFile {
  /** The file's name, for messages. */
  name: string
  /** The files that it consists of: what a checksum has to cover. */
  paths: string[]
  /** What of {@link Reading} decides what is read: a checksum has to cover it as well. */
  reading: string[]
  /**
   * Reads the features one after the other.
   *
   * @throws {OperatorError} where the file is not what its name says, is cut off, or not in WGS 84
   */
  features(noted: Noted): AsyncGenerator<RawFeature>
}
