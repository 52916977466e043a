import { readFile, stat } from 'node:fs/promises'
import { parseXml, XmlElement } from '@rgrove/parse-xml'
import type { GeoTIFFImage } from 'geotiff'
import { OperatorError } from '#src/errors.ts'
import { codeOf, messageOf } from '#src/lib/promises.ts'

/** GDAL's metadata beside a raster whose format cannot hold it. */
export interface SideMetadata {
  path: string
  /** WKT. */
  crs: string | undefined
  geotransform: Affine | undefined
  /** From 1. */
  bands: Map<number, SideBand>
}

interface SideBand extends BandText {
  nodata?: string
  /** By value, from 0. */
  categories: string[]
}

/** Histograms and tables of classes fit. */
const MAX_BYTES = 8 * 2 ** 20

/** `FILE.aux.xml`, GDAL's "persistent auxiliary metadata"; undefined without one. */
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

/** GDAL's order: x of the origin, its change a column and a row, then y. */
function geotransformIn(text: string | undefined, path: string): Affine | undefined {
  if (text === undefined) return undefined
  const numbers = text.split(',').map(Number)
  if (numbers.length !== 6 || !numbers.every(Number.isFinite)) {
    throw new OperatorError(`${path} has a GeoTransform that is not six numbers.`)
  }
  const [c, a, b, f, d, e] = numbers as Affine
  return [a, b, c, d, e, f]
}

export interface BandText {
  scale?: string
  offset?: string
  description?: string
}

/** GDAL's metadata in the file, by band from 1. */
export async function readInternalMetadata(
  image: GeoTIFFImage,
  path: string,
): Promise<Map<number, BandText>> {
  const bands = new Map<number, BandText>()
  if (!image.fileDirectory.hasTag('GDAL_METADATA')) return bands
  const text = String(await image.fileDirectory.loadValue('GDAL_METADATA')).replaceAll('\0', '')
  const root = rootOf(text, 'GDALMetadata', `What ${path} says of its bands`)
  for (const { attributes, text } of root ? childrenOf(root, 'Item') : []) {
    // Items without a role are free notes.
    const { role, sample } = attributes
    if (sample === undefined || (role !== 'scale' && role !== 'offset' && role !== 'description')) continue
    const band = Number(sample) + 1
    bands.set(band, { ...bands.get(band), [role]: unescaped(text) })
  }
  return bands
}

const ESCAPED: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"' }

/** GDAL escapes twice, an XML parser undoes one. */
function unescaped(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot);/g, (entity) => ESCAPED[entity] as string)
}

/**
 * @param name for messages
 * @returns undefined for another root element
 */
function rootOf(text: string, element: string, name: string): XmlElement | undefined {
  try {
    const { root } = parseXml(text)
    return root?.name === element ? root : undefined
  } catch (error) {
    throw new OperatorError(`${name} is damaged: ${messageOf(error).split('\n')[0]}.`)
  }
}

function childrenOf(element: XmlElement, name: string): XmlElement[] {
  return element.children.filter(
    (child): child is XmlElement => child instanceof XmlElement && child.name === name,
  )
}

/** A file that may lie beside a raster; undefined without it. */
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
