import { inflateSync } from 'node:zlib'

/** The colour of a pixel, as `#rrggbb`; null where it is transparent. */
export type ColourAt = (x: number, y: number) => string | null

/** Reads an indexed PNG of eight bits without filters, as `encodePalettePng` writes it and any reader takes it. */
export function readPng(png: Buffer): { width: number; height: number; colourAt: ColourAt } {
  const chunks = new Map<string, Buffer>()
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at)
    chunks.set(png.toString('latin1', at + 4, at + 8), png.subarray(at + 8, at + 8 + length))
    at += length + 12
  }
  const [header, palette, opacity, data] = ['IHDR', 'PLTE', 'tRNS', 'IDAT'].map(
    (type) => chunks.get(type) as Buffer,
  )
  const width = (header as Buffer).readUInt32BE(0)
  const lines = inflateSync(data as Buffer)
  return {
    width,
    height: (header as Buffer).readUInt32BE(4),
    colourAt(x, y) {
      const index = lines[y * (width + 1) + 1 + x] as number
      if ((opacity as Buffer)[index] === 0) return null
      return `#${(palette as Buffer).toString('hex', 3 * index, 3 * index + 3)}`
    },
  }
}

/** The place of a pixel of a tile of the web's maps (OpenStreetMap's formula, with asinh). */
export function centreOf(zoom: number, column: number, row: number, x: number, y: number) {
  const world = 256 * 2 ** zoom
  const lng = ((column * 256 + x + 0.5) / world) * 360 - 180
  const north = Math.PI - (2 * Math.PI * (row * 256 + y + 0.5)) / world
  return { lng, lat: (180 / Math.PI) * (2 * Math.atan(Math.exp(north)) - Math.PI / 2) }
}
