import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeJpeg } from '#src/ingest/geotiff/jpeg.ts'
import { kindFixture } from './fixtures.ts'

const ROOM = { width: 37, height: 32, depth: 3, isLuminance: true }

/** The stream at the end of a file, with all its tables. */
function streamIn(kind: string): Uint8Array {
  const file = readFileSync(kindFixture(`${kind}.tif`))
  return Uint8Array.from(file.subarray(file.lastIndexOf(Buffer.of(0xff, 0xd8, 0xff, 0xe0))))
}

test.each(['jpeg-restarts', 'jpeg-halved-across'])(
  '%s is decoded, or refused in a sentence, wherever it is damaged',
  async (kind) => {
    const stream = streamIn(kind)
    expect(await decodeJpeg(stream, [], ROOM)).toHaveLength(37 * 29 * 3)
    const place = fc.nat(stream.length - 1)
    const damages = fc.array(fc.tuple(place, fc.nat(255)), { minLength: 1, maxLength: 4 })
    const outcomes = { decoded: 0, refused: 0 }
    await fc.assert(
      fc.asyncProperty(damages, fc.option(place), async (changes, end) => {
        const damaged = stream.slice(0, end ?? stream.length)
        for (const [at, byte] of changes) if (at < damaged.length) damaged[at] = byte
        try {
          const samples = await decodeJpeg(damaged, [], ROOM)
          outcomes.decoded++
          return samples.length % (37 * 3) === 0 && samples.length <= 37 * 32 * 3
        } catch (error) {
          outcomes.refused++
          return /^its JPEG data (are|have|say) [^\n]+[^.]$/.test((error as Error).message)
        }
      }),
      { numRuns: 200 },
    )
    // Both happen, or this has tried nothing.
    expect(Math.min(...Object.values(outcomes))).toBeGreaterThan(3)
  },
)
