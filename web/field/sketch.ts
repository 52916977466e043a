import { element } from '../shell/element.ts'
import { boundsOf, type Shape } from './shape.ts'

const SVG = 'http://www.w3.org/2000/svg'
const SIZE = 220
const EDGE = 8

/** The outline of a field as a drawing, which prints as well. */
export function sketch(shape: Shape, label: string) {
  const [west, south, east, north] = boundsOf(shape)
  // A degree of longitude is shorter than one of latitude, but on the equator.
  const narrow = Math.cos((((south + north) / 2) * Math.PI) / 180)
  const scale = (SIZE - 2 * EDGE) / Math.max((east - west) * narrow, north - south, 1e-9)
  const rings = shape.type === 'Polygon' ? shape.coordinates : shape.coordinates.flat()
  const path = rings
    .map((ring) => {
      const corners = ring.map(([lng = 0, lat = 0]) => {
        const x = EDGE + (lng - west) * narrow * scale
        const y = EDGE + (north - lat) * scale
        return `${x.toFixed(1)},${y.toFixed(1)}`
      })
      return `M${corners.join('L')}Z`
    })
    .join('')
  const drawing = document.createElementNS(SVG, 'svg')
  const height = Math.ceil((north - south) * scale) + 2 * EDGE
  const width = Math.ceil((east - west) * narrow * scale) + 2 * EDGE
  drawing.setAttribute('viewBox', `0 0 ${width} ${height}`)
  drawing.setAttribute('width', String(width))
  drawing.setAttribute('height', String(height))
  drawing.setAttribute('role', 'img')
  drawing.setAttribute('aria-label', label)
  const outline = document.createElementNS(SVG, 'path')
  outline.setAttribute('d', path)
  outline.setAttribute('fill-rule', 'evenodd')
  drawing.append(outline)
  return element('figure', { class: 'sketch' }, drawing)
}
