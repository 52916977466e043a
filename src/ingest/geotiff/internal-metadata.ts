import type { GeoTIFFImage } from 'geotiff'
import { childrenOf, rootOf } from './xml.ts'

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
