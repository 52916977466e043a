import type { Pack } from '#src/extensions/packs/reading.ts'
import { numberText } from '../../../texts/names.ts'
import { texts } from './texts.ts'

/** What a map shows of the earth, in CSS pixels. */
interface MapView {
  width: number
  height: number
  metresPerPixel: number
  pixelOf(longitude: number, latitude: number): [x: number, y: number]
}

/** CSS pixels. */
const FONT_SIZE = 12
const HALO = 3
const MARGIN = 8
const TICK = 5
/** Of names over centres: the mark of a place leaves them readable. */
const ABOVE = 16

/** The part of a map that its scale takes at most. */
const MOST_OF_WIDTH = 1 / 3

/** Draws the names of the areas right below that of the pack, where they fit, and a scale. */
export function labelMap(
  canvas: HTMLCanvasElement,
  context: CanvasRenderingContext2D,
  { area }: Pack,
  view: MapView,
): void {
  const { color, backgroundColor, fontFamily } = getComputedStyle(canvas)
  const write = (text: string, x: number, y: number) => {
    context.lineWidth = HALO
    context.strokeStyle = backgroundColor
    context.strokeText(text, x, y)
    context.fillStyle = color
    context.fillText(text, x, y)
  }
  context.save()
  context.font = `${FONT_SIZE}px ${fontFamily}`
  context.lineJoin = 'round'
  context.textBaseline = 'middle'
  const taken = [drawScale(context, view, { color, backgroundColor }, write)]
  context.textAlign = 'center'
  for (const { name, level, longitude, latitude } of area.places) {
    if (level !== area.level + 1) continue
    const [x, centre] = view.pixelOf(longitude, latitude)
    const y = centre - ABOVE
    const half = context.measureText(name).width / 2 + HALO
    const box: Box = [x - half, y - FONT_SIZE / 2 - HALO, x + half, y + FONT_SIZE / 2 + HALO]
    if (box[0] < 0 || box[2] > view.width || taken.some((other) => meets(box, other))) continue
    taken.push(box)
    write(name, x, y)
  }
  context.restore()
}

type Box = [left: number, top: number, right: number, bottom: number]

function meets(one: Box, other: Box): boolean {
  return one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3]
}

/** A line with the metres or kilometres that it stands for, in a corner. */
function drawScale(
  context: CanvasRenderingContext2D,
  { width, height, metresPerPixel }: MapView,
  { color, backgroundColor }: { color: string; backgroundColor: string },
  write: (text: string, x: number, y: number) => void,
): Box {
  const metres = roundLength(width * MOST_OF_WIDTH * metresPerPixel)
  const [left, right, bottom] = [MARGIN, MARGIN + metres / metresPerPixel, height - MARGIN]
  for (const [lineWidth, strokeStyle] of [
    [2 + HALO, backgroundColor],
    [2, color],
  ] as const) {
    context.beginPath()
    context.moveTo(left, bottom - TICK)
    context.lineTo(left, bottom)
    context.lineTo(right, bottom)
    context.lineTo(right, bottom - TICK)
    context.lineWidth = lineWidth
    context.strokeStyle = strokeStyle
    context.stroke()
  }
  const text =
    metres < METRES_OF_KILOMETRE
      ? texts.metres(numberText(metres))
      : texts.kilometres(numberText(metres / METRES_OF_KILOMETRE))
  write(text, left + HALO, bottom - FONT_SIZE)
  const end = Math.max(right, left + HALO + context.measureText(text).width)
  return [0, bottom - 2 * FONT_SIZE, end + HALO, height]
}

const METRES_OF_KILOMETRE = 1000

/** The largest of 1, 2 and 5 by powers of ten that is not longer. */
function roundLength(most: number): number {
  const power = 10 ** Math.floor(Math.log10(most))
  const [digit = 1] = [5, 2].filter((one) => one * power <= most)
  return digit * power
}
