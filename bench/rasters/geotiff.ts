import { open } from 'node:fs/promises'
import type { PixelGrid } from '#src/raster/grid.ts'

export interface RasterToWrite {
  grid: PixelGrid
  nodata: number
  /** What pixels are written as; Float32 where nothing is said. */
  sample?: 'float32' | 'int16'
  /** Texts about the raster, by the names that GDAL has for them. */
  notes?: Record<string, string>
  /** Writes the values of a row, from 0, into an array as long as the grid is wide. */
  fill(row: number, values: Float32Array): void
}

/** Rows are written in strips of about this many bytes, so that memory does not grow with the raster. */
const STRIP_BYTES = 1 << 20

/** The arrays of samples, and what TIFF calls them. */
const SAMPLES = {
  float32: { SampleArray: Float32Array, format: 3 },
  int16: { SampleArray: Int16Array, format: 2 },
}

const SHORT = 3
const LONG = 4
const DOUBLE = 12
const ASCII = 2
const BYTES_OF: Record<number, number> = { [SHORT]: 2, [LONG]: 4, [DOUBLE]: 8, [ASCII]: 1 }

type Tag = [number: number, type: number, values: number[] | string]

/**
 * Writes a raster as a little-endian GeoTIFF in longitude and latitude (EPSG:4326): one band,
 * uncompressed strips. It must stay below 4 GB.
 */
export async function writeGeoTiff(path: string, raster: RasterToWrite): Promise<void> {
  const { grid, nodata, fill, sample = 'float32', notes } = raster
  const { SampleArray, format } = SAMPLES[sample]
  const { width, height } = grid
  const rowBytes = width * SampleArray.BYTES_PER_ELEMENT
  const rowsPerStrip = Math.max(1, Math.floor(STRIP_BYTES / rowBytes))
  const strips = Array.from({ length: Math.ceil(height / rowsPerStrip) }, (_, strip) => {
    const rows = Math.min(rowsPerStrip, height - strip * rowsPerStrip)
    return { from: strip * rowsPerStrip, rows, bytes: rows * rowBytes }
  })
  const directory = (dataStart: number): Buffer =>
    encodeDirectory([
      [256, LONG, [width]],
      [257, LONG, [height]],
      [258, SHORT, [8 * SampleArray.BYTES_PER_ELEMENT]],
      [259, SHORT, [1]], // uncompressed
      [262, SHORT, [1]], // black is zero
      [273, LONG, strips.map(({ from }) => dataStart + from * rowBytes)],
      [277, SHORT, [1]],
      [278, LONG, [rowsPerStrip]],
      [279, LONG, strips.map(({ bytes }) => bytes)],
      [339, SHORT, [format]],
      [33550, DOUBLE, [grid.pixelWidth, -grid.pixelHeight, 0]],
      [33922, DOUBLE, [0, 0, 0, grid.originX, grid.originY, 0]],
      // Geographic, pixels are areas, EPSG:4326.
      [34735, SHORT, [1, 1, 0, 3, 1024, 0, 1, 2, 1025, 0, 1, 1, 2048, 0, 1, 4326]],
      ...(notes ? [[42112, ASCII, `${metadataText(notes)}\0`] as Tag] : []),
      [42113, ASCII, `${nodata}\0`],
    ])
  const file = await open(path, 'w')
  try {
    const head = directory(directory(0).length)
    let at = head.length
    await file.write(head, 0, head.length, 0)
    const values = new Float32Array(rowsPerStrip * width)
    for (const { from, rows, bytes } of strips) {
      for (let row = 0; row < rows; row++) fill(from + row, values.subarray(row * width, (row + 1) * width))
      const samples = SampleArray.from(values)
      await file.write(new Uint8Array(samples.buffer, 0, bytes), 0, bytes, at)
      at += bytes
    }
  } finally {
    await file.close()
  }
}

/** What GDAL keeps in a tag of its own; the texts have no sign of XML. */
function metadataText(notes: Record<string, string>): string {
  const items = Object.entries(notes).map(([name, text]) => `  <Item name="${name}">${text}</Item>\n`)
  return `<GDALMetadata>\n${items.join('')}</GDALMetadata>\n`
}

const HEADER_BYTES = 8
const ENTRY_BYTES = 12

/** A TIFF's header and its only directory; what does not fit into an entry follows. */
function encodeDirectory(tags: Tag[]): Buffer {
  const sizes = tags.map(([, type, values]) => (BYTES_OF[type] as number) * values.length)
  const directoryEnd = HEADER_BYTES + 2 + tags.length * ENTRY_BYTES + 4
  const buffer = Buffer.alloc(sizes.reduce((end, size) => (size > 4 ? end + size : end), directoryEnd))
  buffer.write('II*\0', 'latin1')
  buffer.writeUInt32LE(HEADER_BYTES, 4)
  buffer.writeUInt16LE(tags.length, HEADER_BYTES)
  let free = directoryEnd
  tags.forEach(([number, type, values], index) => {
    const entry = HEADER_BYTES + 2 + index * ENTRY_BYTES
    buffer.writeUInt16LE(number, entry)
    buffer.writeUInt16LE(type, entry + 2)
    buffer.writeUInt32LE(values.length, entry + 4)
    const size = sizes[index] as number
    if (size > 4) buffer.writeUInt32LE(free, entry + 8)
    encodeValues(buffer, size > 4 ? free : entry + 8, type, values)
    if (size > 4) free += size
  })
  return buffer
}

function encodeValues(buffer: Buffer, at: number, type: number, values: number[] | string): void {
  if (typeof values === 'string') {
    buffer.write(values, at, 'latin1')
    return
  }
  values.forEach((value, index) => {
    if (type === DOUBLE) buffer.writeDoubleLE(value, at + index * 8)
    else if (type === LONG) buffer.writeUInt32LE(value, at + index * 4)
    else buffer.writeUInt16LE(value, at + index * 2)
  })
}
