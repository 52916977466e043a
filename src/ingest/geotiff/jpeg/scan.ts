import { damaged } from './damaged.ts'
import { type Component, type Frame, type Tables, ZIGZAG } from './headers.ts'
import { type HuffmanCode, ScanBits } from './huffman.ts'
import { inverseCosineTransform } from './idct.ts'

/** The samples of a component, in whole blocks; those beyond its width and height fill up the last ones. */
export interface Plane {
  width: number
  height: number
  /** From one row to the next. */
  rowLength: number
  samples: Uint8Array
}

/** Components whose samples lie in units of several blocks, as many across and down as they have. */
interface Layout {
  plane: Plane
  component: Component
}

/** A component of a scan with the codes that it is written in. */
interface Coded extends Layout {
  dc: HuffmanCode
  ac: HuffmanCode
  quantisation: Uint16Array
  /** The mean of the block before, which the next one is a difference to. */
  before: number
}

/** The planes of a frame, empty, in the order of its components. */
export function layoutsOf({ width, height, components }: Frame): Layout[] {
  const across = Math.max(...components.map((component) => component.across))
  const down = Math.max(...components.map((component) => component.down))
  const units = { across: Math.ceil(width / (8 * across)), down: Math.ceil(height / (8 * down)) }
  return components.map((component) => {
    const rowLength = units.across * component.across * 8
    const plane = {
      width: Math.ceil((width * component.across) / across),
      height: Math.ceil((height * component.down) / down),
      rowLength,
      samples: new Uint8Array(rowLength * units.down * component.down * 8),
    }
    return { plane, component }
  })
}

/**
 * Decodes a scan into the planes of its components.
 *
 * @param head of the scan
 * @param at where its bits begin
 * @param missing the components that no scan had yet: its own are taken away
 * @returns where its bits end
 */
export function decodeScan(
  bytes: Uint8Array,
  head: Uint8Array,
  at: number,
  tables: Tables,
  missing: Set<Layout>,
): number {
  const coded = codedIn(head, tables, missing)
  const bits = new ScanBits(bytes, at)
  const units = unitsOf(coded)
  const { restartInterval } = tables
  for (let unit = 0; unit < units.across * units.down; unit++) {
    if (restartInterval > 0 && unit > 0 && unit % restartInterval === 0) {
      bits.restart()
      for (const one of coded) one.before = 0
    }
    const [column, row] = [unit % units.across, Math.floor(unit / units.across)]
    for (const one of coded) {
      // A component alone is written block by block.
      const { across, down } = coded.length === 1 ? { across: 1, down: 1 } : one.component
      for (let block = 0; block < across * down; block++) {
        const x = column * across + (block % across)
        const y = row * down + Math.floor(block / across)
        decodeBlock(bits, one)
        const { rowLength, samples } = one.plane
        inverseCosineTransform(coefficients, samples, (y * rowLength + x) * 8, rowLength)
      }
    }
  }
  bits.finish()
  return bits.end
}

function codedIn(head: Uint8Array, tables: Tables, missing: Set<Layout>): Coded[] {
  const count = head[0] ?? 0
  if (count === 0 || head.length < 1 + 2 * count) throw damaged()
  return Array.from({ length: count }, (_, index) => {
    const [id, codes] = [head[1 + 2 * index], head[2 + 2 * index] as number]
    const layout = [...missing].find(({ component }) => component.id === id)
    const dc = tables.dc[codes >> 4]
    const ac = tables.ac[codes & 15]
    const quantisation = layout && tables.quantisation[layout.component.quantisation]
    if (!layout || !dc || !ac || !quantisation) throw damaged()
    missing.delete(layout)
    return { ...layout, dc, ac, quantisation, before: 0 }
  })
}

function unitsOf(coded: Coded[]): { across: number; down: number } {
  const [{ plane, component }] = coded as [Coded]
  const { across, down } = coded.length === 1 ? { across: 1, down: 1 } : component
  if (coded.length === 1) return { across: Math.ceil(plane.width / 8), down: Math.ceil(plane.height / 8) }
  return {
    across: plane.rowLength / (8 * across),
    down: plane.samples.length / plane.rowLength / (8 * down),
  }
}

/** Those of the block that is decoded, row by row. */
const coefficients = new Int32Array(64)

/** Numbers of a block of 8 bits a sample have at most so many bits. */
const MOST_BITS = 11

function decodeBlock(bits: ScanBits, coded: Coded): void {
  const { dc, ac, quantisation } = coded
  coefficients.fill(0)
  const size = bits.symbol(dc)
  if (size > MOST_BITS) throw damaged()
  if (size > 0) coded.before += bits.signed(size)
  coefficients[0] = coded.before * (quantisation[0] as number)
  for (let index = 1; index < 64; index++) {
    const symbol = bits.symbol(ac)
    const zeros = symbol >> 4
    if ((symbol & 15) === 0) {
      // The rest is 0, or sixteen are.
      if (zeros < 15) return
      index += 15
      continue
    }
    index += zeros
    if (index > 63 || (symbol & 15) > MOST_BITS) throw damaged()
    const place = ZIGZAG[index] as number
    coefficients[place] = bits.signed(symbol & 15) * (quantisation[place] as number)
  }
}
