import { extname } from 'node:path'
import { OperatorError } from '#src/errors.ts'
import type { Affine } from './affine.ts'
import { readSmallFile } from './small-files.ts'

/** Six numbers, a line each. */
const MAX_WORLD_BYTES = 10_000
const MAX_PRJ_BYTES = 100_000

/** Names of the world file beside FILE.tif, in the order in which GDAL looks for them, each in capitals as well. */
const WORLD_FILES = ['.tfw', '.tifw', '.wld']

/**
 * The geotransform in a world file, which says where the centre of the first pixel is; undefined where there is none.
 *
 * @throws {OperatorError} when it is not six numbers
 */
export async function readWorldFile(imagePath: string): Promise<Affine | undefined> {
  for (const extension of WORLD_FILES) {
    const found = await readBeside(imagePath, extension, MAX_WORLD_BYTES)
    if (found) return affineIn(found.text, found.path)
  }
  return undefined
}

function affineIn(text: string, path: string): Affine {
  // Where the locale of its writer has decimal commas, so has the file.
  const numbers = text
    .trim()
    .split(/\s+/)
    .slice(0, 6)
    .map((number) => Number(number.replace(',', '.')))
  if (numbers.length < 6 || !numbers.every(Number.isFinite)) {
    throw new OperatorError(`${path} is not a world file: it does not begin with six numbers.`)
  }
  const [a, d, b, e, x, y] = numbers as [number, number, number, number, number, number]
  return [a, b, x - (a + b) / 2, d, e, y - (d + e) / 2]
}

/** The WKT in the .prj beside an image; undefined where there is none. */
export async function readPrj(imagePath: string): Promise<string | undefined> {
  return (await readBeside(imagePath, '.prj', MAX_PRJ_BYTES))?.text
}

async function readBeside(
  imagePath: string,
  extension: string,
  maxBytes: number,
): Promise<{ path: string; text: string } | undefined> {
  for (const end of [extension, extension.toUpperCase()]) {
    const path = imagePath.slice(0, imagePath.length - extname(imagePath).length) + end
    const text = await readSmallFile(path, maxBytes)
    if (text !== undefined) return { path, text }
  }
  return undefined
}
