import type * as MapLibre from 'maplibre-gl'
import { element } from '../shell/element.ts'
import { TEXTS } from '../texts/en.ts'
import { createPane, type Pane } from './pane.ts'

/** Said of movements that follow another map's. */
export const FOLLOWING = new Event('following')

/** Another map over one, of the same place: a slider says where the two meet. */
export function createSwipe(maplibre: typeof MapLibre, container: HTMLElement, { map }: Pane) {
  const over = element('div', { className: 'pane over' })
  const divider = element('div', { className: 'divider' })
  const slider = element('input', { type: 'range', min: '0', max: '100', value: '50', className: 'swipe' })
  slider.setAttribute('aria-label', TEXTS.map.swipe)
  const left = element('p', { className: 'left' })
  const right = element('p', { className: 'right' })
  const all = [over, divider, left, right, slider]
  container.append(...all)
  const { lng, lat } = map.getCenter()
  const pane = createPane(maplibre, over, { center: [lng, lat], zoom: map.getZoom() })
  const follow = following(map, pane.map)
  const lead = following(pane.map, map)
  const place = () => {
    over.style.clipPath = `inset(0 0 0 ${slider.value}%)`
    divider.style.left = `${slider.value}%`
  }
  slider.addEventListener('input', place)
  place()
  return {
    pane,
    name(one: string, other: string) {
      left.textContent = one
      right.textContent = other
    },
    remove() {
      follow()
      lead()
      pane.remove()
      for (const part of all) part.remove()
    },
  }
}

/** Has a map move as another one does. */
function following(leader: MapLibre.Map, follower: MapLibre.Map) {
  const follow = ({ originalEvent }: { originalEvent?: Event }) => {
    if (originalEvent === FOLLOWING) return
    follower.jumpTo({ center: leader.getCenter(), zoom: leader.getZoom() }, { originalEvent: FOLLOWING })
  }
  leader.on('move', follow)
  return () => leader.off('move', follow)
}
