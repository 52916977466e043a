import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { StreamedStrip } from '#src/ingest/geotiff/blocks.ts'
import { COMPRESSIONS, type DecompressStream } from '#src/ingest/geotiff/compression.ts'
import { FileBytes } from '#src/ingest/geotiff/directories.ts'
import { newFolder } from '#test/setup/folders.ts'

const PIECE = 100_000
const PIECES = 12

test('a strip gives its pieces in any order, and is decompressed anew only for one that was let go, once the first time has ended', async () => {
  const path = join(await newFolder(), 'strip')
  const bytes = Buffer.concat(Array.from({ length: PIECES }, (_, piece) => Buffer.alloc(PIECE, piece)))
  // The last piece is shorter than the others.
  const size = bytes.length - PIECE / 2
  const data = deflateSync(bytes.subarray(0, size))
  await writeFile(path, Buffer.concat([Buffer.from('before'), data, Buffer.from('behind')]))
  const file = await FileBytes.open(path)
  let begun = 0
  let ended = 0
  const inflate = COMPRESSIONS.get(8)?.stream as DecompressStream
  const place = { turned: false, offset: 6, length: data.length, size, pieceBytes: PIECE }
  const strip = new StreamedStrip(
    file,
    place,
    async function* (pieces) {
      begun++
      try {
        yield* inflate(pieces)
      } finally {
        ended++
      }
    },
    (samples) => samples,
  )
  const whole = (piece: number) => new Uint8Array(piece === PIECES - 1 ? PIECE / 2 : PIECE).fill(piece)

  expect(await Promise.all([0, 1, 2].map((piece) => strip.samples(piece)))).toEqual([0, 1, 2].map(whole))
  strip.needOnlyFrom(1)
  expect(await strip.samples(1)).toEqual(whole(1))
  expect(await strip.samples(7)).toEqual(whole(7))
  expect(await strip.samples(2)).toEqual(whole(2))
  expect([begun, ended]).toEqual([1, 0])

  strip.needOnlyFrom(0)
  expect(await strip.samples(0)).toEqual(whole(0))
  expect([begun, ended]).toEqual([2, 1])
  expect(await strip.samples(PIECES - 1)).toEqual(whole(PIECES - 1))
  expect([begun, ended]).toEqual([2, 2])
  await file.close()
})
