import { inflateSync } from 'node:zlib'

export interface TiffImage {
  /** Where its directory begins, and where the values of its fields end. */
  directory: number
  end: number
  isOverview: boolean
  width: number
  height: number
  block: number
  bytesOfPixel: number
  predictor: number
  offsets: number[]
  lengths: number[]
}

const BYTES: Record<number, number> = { 2: 1, 3: 2, 4: 4, 12: 8 }

/** Reads the directories of a little-endian TIFF in blocks, of one band. */
export function readTiff(file: Buffer): TiffImage[] {
  if (file.toString('latin1', 0, 2) !== 'II' || file.readUInt16LE(2) !== 42) throw new Error('no TIFF')
  const images: TiffImage[] = []
  for (let at = file.readUInt32LE(4); at !== 0; ) {
    const count = file.readUInt16LE(at)
    const fields = new Map<number, number[]>()
    let end = at + 2 + count * 12 + 4
    for (let entry = at + 2, last = 0; entry < at + 2 + count * 12; entry += 12) {
      const [tag, type] = [file.readUInt16LE(entry), file.readUInt16LE(entry + 2)]
      if (tag <= last) throw new Error(`tag ${tag} comes after ${last}`)
      last = tag
      const size = BYTES[type] as number
      const bytes = size * file.readUInt32LE(entry + 4)
      const start = bytes <= 4 ? entry + 8 : file.readUInt32LE(entry + 8)
      if (bytes > 4) end = Math.max(end, start + bytes)
      const read =
        size === 8
          ? (place: number) => file.readDoubleLE(place)
          : (place: number) => file.readUIntLE(place, size)
      fields.set(
        tag,
        Array.from({ length: bytes / size }, (_, index) => read(start + index * size)),
      )
    }
    const one = (tag: number) => fields.get(tag)?.[0] as number
    if (one(259) !== 8) throw new Error(`compression ${one(259)}`)
    images.push({
      ...{ directory: at, end, isOverview: one(254) === 1, width: one(256), height: one(257) },
      ...{ block: one(322), bytesOfPixel: one(258) / 8, predictor: one(317) },
      ...{ offsets: fields.get(324) as number[], lengths: fields.get(325) as number[] },
    })
    at = file.readUInt32LE(at + 2 + count * 12)
  }
  return images
}

/** The bytes of all pixels of an image, row by row. */
export function valuesOf(file: Buffer, image: TiffImage): Buffer {
  const { width, height, block, bytesOfPixel, predictor, offsets, lengths } = image
  const values = Buffer.alloc(width * height * bytesOfPixel)
  const across = Math.ceil(width / block)
  const stride = block * bytesOfPixel
  for (const [index, offset] of offsets.entries()) {
    const bytes = inflateSync(file.subarray(offset, offset + (lengths[index] as number)))
    const [left, top] = [(index % across) * block, Math.floor(index / across) * block]
    const wide = Math.min(block, width - left)
    for (let y = 0; y < Math.min(block, height - top); y++) {
      const row = bytes.subarray(y * stride, (y + 1) * stride)
      const read = predictor === 3 ? floatsOf(row, bytesOfPixel) : wholeNumbersOf(row, bytesOfPixel)
      read.copy(values, ((top + y) * width + left) * bytesOfPixel, 0, wide * bytesOfPixel)
    }
  }
  return values
}

/** Predictor 2: each number is how it differs from the one before. */
function wholeNumbersOf(row: Buffer, size: number): Buffer {
  const numbers = Buffer.from(row)
  for (let at = size; at < row.length; at += size) {
    const sum = numbers.readUIntLE(at, size) + numbers.readUIntLE(at - size, size)
    numbers.writeUIntLE(sum % 2 ** (8 * size), at, size)
  }
  return numbers
}

/** Predictor 3: the same of bytes, which lie side by side by their weight. */
function floatsOf(row: Buffer, size: number): Buffer {
  const planes = wholeNumbersOf(row, 1)
  const width = row.length / size
  return Buffer.from(
    row.map((_, at) => planes[(size - 1 - (at % size)) * width + Math.floor(at / size)] as number),
  )
}

/**
 * What keeps a TIFF from being cloud-optimised, by the rules of GDAL's validate_cloud_optimized_geotiff.py: blocks and
 * overviews where it is large, directories before all blocks and in the order of their sizes, the blocks of overviews
 * before those of what is larger.
 */
export function cogMistakes(images: TiffImage[]): string[] {
  const mistakes: string[] = []
  const refuse = (isWrong: boolean, mistake: string) => isWrong && mistakes.push(mistake)
  const [main, ...overviews] = images as [TiffImage, ...TiffImage[]]
  const isLarge = main.width > 512 || main.height > 512
  refuse(main.directory !== 8, 'the first directory does not come first')
  refuse(main.isOverview || !overviews.every(({ isOverview }) => isOverview), 'overviews are not called so')
  refuse(isLarge && overviews.length === 0, 'there are no overviews')
  for (const [at, image] of images.entries()) {
    refuse(image.block > 512, `level ${at} has large blocks`)
    refuse(
      image.offsets.some((offset, block) => offset < (image.offsets[block - 1] ?? 0)),
      `blocks of ${at} are mixed`,
    )
    const above = images[at - 1]
    if (!above) continue
    refuse(image.width > above.width || image.height > above.height, `overview ${at} is not smaller`)
    refuse(image.directory < above.end, `directory ${at} does not follow`)
    refuse((image.offsets.at(-1) as number) > (above.offsets[0] as number), `blocks of ${at} come late`)
  }
  refuse(
    (images.at(-1) as TiffImage).end > Math.min(...images.flatMap(({ offsets }) => offsets)),
    'blocks come early',
  )
  return mistakes
}
