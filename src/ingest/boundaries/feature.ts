import { basename } from 'node:path'
import { OperatorError } from '#src/errors.ts'
import { hasRotatedPole } from '../rotated-pole.ts'
import type { Encoding } from './encoding.ts'
import { someOf } from './place.ts'

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

/** The CRS as WKT: geographic, with the datum of WGS 84 in one of the spellings there are. */
const WGS84_WKT = /^\s*(GEOGCS|GEOGCRS)\s*\[.*(D_WGS_1984|WGS_1984|WGS 84|World Geodetic System 1984)/is

/** Whether a CRS is that of longitude and latitude in degrees, by its well-known text. */
export function isWgs84Wkt(wkt: string): boolean {
  return WGS84_WKT.test(wkt) && !hasRotatedPole(wkt)
}

/**
 * The layer of a file that is meant: the one that is given, the only one, or the one named after the level.
 *
 * @throws {OperatorError} where it is not there, or not clear
 */
export function chooseLayer(file: string, layers: string[], { level, layer: wanted }: Reading): string {
  if (wanted !== undefined) {
    const alike = layers.filter((layer) => layer.toLowerCase() === wanted.toLowerCase())
    const found = alike.find((layer) => layer === wanted) ?? alike[0]
    if (found === wanted || alike.length === 1) return found as string
    if (alike.length > 1) {
      throw new OperatorError(
        `${file} has several layers that ${wanted} may mean (--layer): ${someOf(alike)}.`,
      )
    }
    throw new OperatorError(`${file} has no layer ${wanted} (--layer); it has ${someOf(layers)}.`)
  }
  if (layers.length === 1) return layers[0] as string
  if (level === undefined) {
    throw new OperatorError(`${file} has several layers: give --layer, one of ${someOf(layers)}.`)
  }
  const ofLevel = layers.filter((layer) => isOfLevel(layer, level))
  const chosen = ofLevel.filter((layer) => !/simplified/i.test(layer))
  if (chosen.length === 1) return chosen[0] as string
  throw new OperatorError(
    `${file} has several layers, and it is not clear which one is of level ${level}: give --layer, one of ${someOf(layers)}.`,
  )
}

/**
 * As publishers name them: eth_admbnda_adm2_2021, geoBoundaries-ETH-ADM2, ADM_2, admin2, gadm41_ETH_2, GAUL_2024_L2.
 * Where files of an archive need their paths, the folders say nothing of the level.
 */
function isOfLevel(layer: string, level: number): boolean {
  return new RegExp(`(?:adm(?:in)?_?|^gadm.*_|_L)${level}(?!\\d)`, 'i').test(basename(layer))
}
