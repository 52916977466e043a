import { rowsOfSize, toRedGreenBlue } from './colours.ts'
import { damaged } from './damaged.ts'
import { type Frame, frameOf, MARKERS, readTables, segmentAt, type Tables } from './headers.ts'
import { decodeScan, layoutsOf, type Plane } from './scan.ts'

/** What a block of the file has room for, and how it has colours. */
export interface Room {
  width: number
  height: number
  /** Samples a pixel. */
  depth: number
  /** Whether the samples are luminance and two differences, which stand for red, green and blue. */
  isLuminance: boolean
}

/**
 * Decodes a sequential JPEG stream with samples of 8 bits, to the same samples as libjpeg.
 *
 * @param shared tables that the stream does not have itself
 * @returns its samples, those of a pixel side by side, in as many rows as it has
 * @throws where it is damaged or does not fit into the room, before memory is taken for it
 */
export function decodeJpeg(bytes: Uint8Array, shared: Tables, room: Room): Uint8Array {
  const { quantisation, dc, ac, restartInterval } = shared
  const tables = { quantisation: [...quantisation], dc: [...dc], ac: [...ac], restartInterval }
  let at = 0
  let frame: Frame | undefined
  while (!frame) {
    const { marker, content, end } = segmentAt(bytes, at)
    if (marker === MARKERS.scan) throw damaged()
    readTables(marker, content, tables)
    frame = frameOf(marker, content)
    at = end
  }
  refuseOtherSize(frame, room)
  const layouts = layoutsOf(frame)
  const missing = new Set(layouts)
  while (missing.size > 0) {
    const { marker, content, end } = segmentAt(bytes, at)
    if (frameOf(marker, content)) throw damaged()
    readTables(marker, content, tables)
    at = marker === MARKERS.scan ? decodeScan(bytes, content, end, tables, missing) : end
  }
  return together(
    frame,
    layouts.map(({ plane }) => plane),
    room,
  )
}

/** The last strip may be as high as the others, or lower. */
function refuseOtherSize({ width, height, components }: Frame, room: Room): void {
  if (width !== room.width || height > room.height || height === 0 || components.length !== room.depth) {
    throw new Error(
      `its JPEG data say that they are ${width} x ${height} pixels of ${components.length} samples, and the block has ${room.width} x ${room.height} of ${room.depth}`,
    )
  }
  const samplings = components.map(({ across, down }) => `${across} x ${down}`)
  const [first, ...others] = samplings as [string]
  const possible = room.isLuminance
    ? room.depth === 3 && ['1 x 1', '2 x 1', '2 x 2'].includes(first)
    : first === '1 x 1'
  if (possible && others.every((sampling) => sampling === '1 x 1')) return
  throw new Error(
    `its JPEG data have ${samplings.join(', ')} samples in a unit: 1 x 1 of each band are read, and of the first of three that are YCbCr 2 x 1 or 2 x 2 as well`,
  )
}

function together({ width, height, components }: Frame, planes: Plane[], room: Room): Uint8Array {
  const { depth, isLuminance } = room
  const [first] = components as [Frame['components'][number]]
  const rows = planes.map((plane, index) =>
    rowsOfSize(plane, width, index === 0 ? { across: 1, down: 1 } : first),
  )
  const output = new Uint8Array(width * height * depth)
  for (let row = 0; row < height; row++) {
    const found = rows.map((rowOf) => rowOf(row))
    const at = row * width * depth
    if (isLuminance) toRedGreenBlue(found as [Uint8Array, Uint8Array, Uint8Array], output, at, width)
    else if (depth === 1) output.set(found[0] as Uint8Array, at)
    else for (const [sample, samples] of found.entries()) interleave(samples, output, at + sample, depth)
  }
  return output
}

function interleave(samples: Uint8Array, output: Uint8Array, at: number, step: number): void {
  for (let column = 0, place = at; column < samples.length; column++, place += step) {
    output[place] = samples[column] as number
  }
}
