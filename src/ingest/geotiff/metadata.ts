import { readFile, stat } from 'node:fs/promises'
import { parseXml, XmlElement } from '@rgrove/parse-xml'
import type { GeoTIFFImage } from 'geotiff'
import { OperatorError } from '#src/errors.ts'
import { codeOf, messageOf } from '#src/lib/promises.ts'

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

/** What GDAL keeps of a band, as text. */
export interface BandText {
  scale?: string
  offset?: string
  description?: string
}

/**
 * What GDAL has written of the bands into a GeoTIFF itself, by their numbers from 1.
 *
 * @throws {OperatorError} when it is no XML
 */
export async function readInternalMetadata(
  image: GeoTIFFImage,
  path: string,
): Promise<Map<number, BandText>> {
  const bands = new Map<number, BandText>()
  if (!image.fileDirectory.hasTag('GDAL_METADATA')) return bands
  const text = String(await image.fileDirectory.loadValue('GDAL_METADATA')).replaceAll('\0', '')
  const root = rootOf(text, 'GDALMetadata', `What ${path} says of its bands`)
  for (const { attributes, text } of root ? childrenOf(root, 'Item') : []) {
    // Items without a role are whatever somebody wanted to note, whatever their names.
    const { role, sample } = attributes
    if (sample === undefined || (role !== 'scale' && role !== 'offset' && role !== 'description')) continue
    const band = Number(sample) + 1
    bands.set(band, { ...bands.get(band), [role]: unescaped(text) })
  }
  return bands
}

const ESCAPED: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"' }

/** GDAL escapes what it writes into a GeoTIFF twice, which an XML parser undoes once. */
function unescaped(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot);/g, (entity) => ESCAPED[entity] as string)
}

/**
 * The outermost element of an XML text; undefined where it is of another name.
 *
 * @param name what sentences call the text
 * @throws {OperatorError} when it is no XML
 */
function rootOf(text: string, element: string, name: string): XmlElement | undefined {
  try {
    const { root } = parseXml(text)
    return root?.name === element ? root : undefined
  } catch (error) {
    throw new OperatorError(`${name} is damaged: ${messageOf(error).split('\n')[0]}.`)
  }
}

/** The elements of a name in another. */
function childrenOf(element: XmlElement, name: string): XmlElement[] {
  return element.children.filter(
    (child): child is XmlElement => child instanceof XmlElement && child.name === name,
  )
}

/**
 * The text of a file that may lie beside a raster; undefined where it does not.
 *
 * @throws {OperatorError} when it is too large or cannot be read
 */
export async function readSmallFile(path: string, maxBytes: number): Promise<string | undefined> {
  const refuse = (error: NodeJS.ErrnoException) => {
    if (codeOf(error) === 'ENOENT') return undefined
    throw new OperatorError(`${path} cannot be read: ${error.message}.`)
  }
  const status = await stat(path).catch(refuse)
  if (!status) return undefined
  if (status.size > maxBytes) {
    throw new OperatorError(`${path} has ${status.size} bytes; at most ${maxBytes} are read.`)
  }
  return readFile(path, 'utf8').catch(refuse)
}

/** x = a * column + b * row + c, y = d * column + e * row + f. */
export type Affine = [a: number, b: number, c: number, d: number, e: number, f: number]
