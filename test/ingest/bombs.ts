import { constants, deflateRawSync } from 'node:zlib'

const CHUNK_BYTES = 16 * 2 ** 20

/**
 * DEFLATE data of zeros, of any size in no time: each part is flushed, so that it can be written again and
 * again. About a thousandth of the size.
 */
export function deflatedZeros(bytes: number): Buffer {
  const part = deflateRawSync(Buffer.alloc(CHUNK_BYTES), { finishFlush: constants.Z_FULL_FLUSH })
  const rest = deflateRawSync(Buffer.alloc(bytes % CHUNK_BYTES))
  return Buffer.concat([...Array(Math.floor(bytes / CHUNK_BYTES)).fill(part), rest])
}

/** The same as a zlib stream, which TIFFs are made of; its sum at the end is not that of the zeros. */
export function zlibZeros(bytes: number): Buffer {
  return Buffer.concat([Buffer.from([0x78, 0x9c]), deflatedZeros(bytes), Buffer.alloc(4)])
}

export interface PackedFile {
  name: string
  /** DEFLATE data. */
  data: Buffer
  /** How many bytes the archive says that they are. */
  bytes: number
}

/** A zip archive of files that are packed already, which may say anything of them. */
export function zipOfPacked(files: PackedFile[]): Buffer {
  const local: Buffer[] = []
  const central: Buffer[] = []
  let offset = 0
  for (const { name, data, bytes } of files) {
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(8, 4)
    common.writeUInt32LE(data.length, 14)
    common.writeUInt32LE(bytes, 18)
    common.writeUInt16LE(name.length, 22)
    const part = Buffer.concat([Buffer.from('PK\x03\x04'), common, Buffer.from(name), data])
    const place = Buffer.alloc(14)
    place.writeUInt32LE(offset, 10)
    central.push(Buffer.from('PK\x01\x02\x14\0'), common, place, Buffer.from(name))
    local.push(part)
    offset += part.length
  }
  const directory = Buffer.concat(central)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(files.length, 4)
  end.writeUInt16LE(files.length, 6)
  end.writeUInt32LE(directory.length, 8)
  end.writeUInt32LE(offset, 12)
  return Buffer.concat([...local, directory, Buffer.from('PK\x05\x06'), end])
}
