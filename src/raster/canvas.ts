import { textPixels } from './bitmap-font.ts'
import type { GridSize, Window } from './grid.ts'

/** Says of which place in the palette a pixel is. */
export type Ink = (column: number, row: number) => number

/** A picture that is being drawn. What lies outside of it is left out. */
export class Canvas implements GridSize {
  readonly width: number
  readonly height: number
  /** Places in a palette, row by row from the top; 0 to begin with. */
  readonly indices: Uint8Array

  constructor({ width, height }: GridSize) {
    this.width = width
    this.height = height
    this.indices = new Uint8Array(width * height)
  }

  fill({ column, row, width, height }: Window, ink: Ink): void {
    const [right, bottom] = [Math.min(this.width, column + width), Math.min(this.height, row + height)]
    for (let y = Math.max(0, row); y < bottom; y++) {
      for (let x = Math.max(0, column); x < right; x++) this.indices[y * this.width + x] = ink(x, y)
    }
  }

  /** Writes a line of text to the right of and below a pixel; those of the font are squares of `scale` pixels. */
  write(text: string, at: { column: number; row: number }, scale: number, ink: Ink): void {
    for (const { column, row } of textPixels(text)) {
      const square = { column: at.column + scale * column, row: at.row + scale * row }
      this.fill({ ...square, width: scale, height: scale }, ink)
    }
  }
}
