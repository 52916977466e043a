import type { XmlElement } from '@rgrove/parse-xml'
import { OperatorError } from '#src/errors.ts'
import type { Affine } from './affine.ts'
import type { BandText } from './internal-metadata.ts'
import { readSmallFile } from './small-files.ts'
import { childrenOf, rootOf } from './xml.ts'

/** What GDAL keeps of a raster in a file beside it, since the raster's own format or its reader could not. */
export interface SideMetadata {
  path: string
  /** The CRS, as WKT. */
  crs: string | undefined
  geotransform: Affine | undefined
  /** By their numbers, from 1. */
  bands: Map<number, SideBand>
}

interface SideBand extends BandText {
  nodata?: string
  /** The names of its classes, by their values from 0. */
  categories: string[]
}

/** It may have histograms, and tables of classes. */
const MAX_BYTES = 8 * 2 ** 20

/**
 * Reads `FILE.aux.xml`, GDAL's "persistent auxiliary metadata"; undefined where there is none.
 *
 * @throws {OperatorError} when it cannot be read
 */
export async function readSideMetadata(imagePath: string): Promise<SideMetadata | undefined> {
  const path = `${imagePath}.aux.xml`
  const text = await readSmallFile(path, MAX_BYTES)
  if (text === undefined) return undefined
  const root = rootOf(text, 'PAMDataset', path)
  if (!root) {
    throw new OperatorError(`${path} is not what GDAL keeps of a raster: it is no PAMDataset.`)
  }
  return {
    path,
    crs: textOf(root, 'SRS'),
    geotransform: geotransformIn(textOf(root, 'GeoTransform'), path),
    bands: new Map(
      childrenOf(root, 'PAMRasterBand').map((band) => [
        Number(band.attributes.band),
        {
          nodata: textOf(band, 'NoDataValue'),
          scale: textOf(band, 'Scale'),
          offset: textOf(band, 'Offset'),
          description: textOf(band, 'Description'),
          categories: childrenOf(band, 'CategoryNames')
            .flatMap((names) => childrenOf(names, 'Category'))
            .map(({ text }) => text.trim()),
        },
      ]),
    ),
  }
}

function textOf(element: XmlElement, name: string): string | undefined {
  return childrenOf(element, name)[0]?.text.trim() || undefined
}

/** GDAL's order: x of the origin, then what a column and a row add to it, and the same of y. */
function geotransformIn(text: string | undefined, path: string): Affine | undefined {
  if (text === undefined) return undefined
  const numbers = text.split(',').map(Number)
  if (numbers.length !== 6 || !numbers.every(Number.isFinite)) {
    throw new OperatorError(`${path} has a GeoTransform that is not six numbers.`)
  }
  const [c, a, b, f, d, e] = numbers as Affine
  return [a, b, c, d, e, f]
}
