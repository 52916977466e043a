import { expect, test } from 'vitest'
import { COMPRESSIONS } from '#src/ingest/geotiff/compression.ts'

const LZW = 5
const PACK_BITS = 32773

/** Packs 9-bit codes, high bit first. */
function packCodes(codes: number[]): Uint8Array {
  const bits = codes.map((code) => code.toString(2).padStart(9, '0')).join('')
  return Uint8Array.from(bits.match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2))
}

test('an LZW block ends with its last pixel, whatever bytes follow', async () => {
  const [CLEAR, UNDEFINED_CODE] = [256, 511]
  const block = packCodes([CLEAR, 65, 66, UNDEFINED_CODE, UNDEFINED_CODE, UNDEFINED_CODE])
  expect(await COMPRESSIONS.get(LZW)?.undo(block, 2, 2)).toEqual(Uint8Array.of(65, 66))
  await expect(COMPRESSIONS.get(LZW)?.undo(block, 3, 3)).rejects.toThrow('its LZW data are damaged')
})

test('a PackBits block ends with its last pixel, and a short one is short', async () => {
  const block = Uint8Array.of(1, 65, 66, 255, 67, 0)
  expect(await COMPRESSIONS.get(PACK_BITS)?.undo(block, 3, 3)).toEqual(Uint8Array.of(65, 66, 67))
  expect(await COMPRESSIONS.get(PACK_BITS)?.undo(block, 9, 9)).toEqual(Uint8Array.of(65, 66, 67, 67))
})
