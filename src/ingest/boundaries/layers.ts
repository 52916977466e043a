import { basename } from 'node:path'
import { OperatorError } from '#src/errors.ts'
import type { Reading } from './feature.ts'
import { someOf } from './parents.ts'

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
