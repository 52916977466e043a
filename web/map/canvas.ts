import type * as MapLibre from 'maplibre-gl'
import type { Bounds, Place } from '../api-types.ts'
import type { Camera } from '../parts/view.ts'
import { waitAloud } from '../shell/api.ts'
import { element } from '../shell/element.ts'
import { onThemeChange } from '../shell/frame.ts'
import { TEXTS } from '../texts/en.ts'
import type { createPane, Pane, Shown } from './pane-main.ts'

const PANE = new URL('../map/pane-main.bundle.js', import.meta.url).href

type Start = Parameters<typeof createPane>[2]
type PaneIn = (room: HTMLElement, at: Start, isOver?: boolean) => Pane

/** What draws on a map, which comes with the library that does. One over another has no controls. */
export async function loadPane(): Promise<PaneIn> {
  // What one reads first does not wait for the library, which is a quarter of a megabyte.
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
  const loading: Promise<typeof import('./pane-main.ts')> = import(PANE)
  const [maplibre, { createPane }] = await Promise.all([import('maplibre-gl'), loading])
  return (room, at, isOver = false) => {
    const pane = createPane(maplibre, room, at, waitAloud)
    if (isOver) return pane
    pane.map.addControl(new maplibre.NavigationControl({ showCompass: false }), 'top-right')
    pane.map.addControl(new maplibre.ScaleControl({}), 'bottom-left')
    return pane
  }
}

/** Whether this browser can draw the map. */
export function canDraw() {
  return document.createElement('canvas').getContext('webgl2') !== null
}

interface Options {
  camera: Camera | null
  /** The view without a camera. */
  bounds: Bounds | undefined
  /** Called with the place that was clicked. */
  choose: (place: Place) => void
  moved: (camera: Camera) => void
}

/** The map, and beside it another one to compare with: both are of the same place, and a slider says where they meet. */
export async function createCanvas(container: HTMLElement, { camera, bounds, choose, moved }: Options) {
  const paneIn = await loadPane()
  const room = element('div', { className: 'pane' })
  container.append(room)
  const { lat, lng, zoom } = camera ?? { zoom: 4, lat: 4, lng: 37 }
  const whole = !camera && bounds ? { bounds, fitBoundsOptions: { padding: 24 } } : {}
  const first = paneIn(room, { center: [lng, lat], zoom, ...whole })
  listen(first)
  let second: ReturnType<typeof createSwipe> | undefined
  onThemeChange(() => {
    first.restyle()
    second?.pane.restyle()
  })

  function listen({ map }: Pane) {
    map.on('click', ({ lngLat: { lat, lng } }) => choose({ lat, lng }))
    map.getCanvas().addEventListener('keydown', ({ key }) => {
      if (key === 'Enter') choose({ lat: map.getCenter().lat, lng: map.getCenter().lng })
    })
    map.on('moveend', ({ originalEvent }) => {
      const { lat, lng } = map.getCenter()
      if (originalEvent !== FOLLOWING) moved({ zoom: map.getZoom(), lat, lng })
    })
  }

  return {
    /** @param compared what is on the right, where two are compared */
    show(shown: Shown, compared?: Shown, names: { left: string; right: string } = { left: '', right: '' }) {
      first.show(shown)
      if (!compared) {
        second?.remove()
        second = undefined
        return
      }
      if (!second) {
        second = createSwipe(paneIn, container, first)
        listen(second.pane)
      }
      second.pane.show(compared)
      second.name(names.left, names.right)
    },
    /** @param opacity in percent */
    setOpacity(opacity: number) {
      first.setOpacity(opacity)
      second?.pane.setOpacity(opacity)
    },
    fit: (to: Bounds) => first.map.fitBounds(to, { padding: 24, maxZoom: 11 }),
    goTo: ({ lat, lng }: Place) =>
      first.map.easeTo({ center: [lng, lat], zoom: Math.max(first.map.getZoom(), 7) }),
  }
}

/** Said of movements that follow another map's. */
const FOLLOWING = new Event('following')

/** Another map over one, of the same place: a slider says where the two meet. */
function createSwipe(paneIn: PaneIn, container: HTMLElement, { map }: Pane) {
  const over = element('div', { className: 'pane over' })
  const divider = element('div', { className: 'divider' })
  const slider = element('input', { type: 'range', min: '0', max: '100', value: '50', className: 'swipe' })
  slider.setAttribute('aria-label', TEXTS.map.swipe)
  const left = element('p', { className: 'left' })
  const right = element('p', { className: 'right' })
  const all = [over, divider, left, right, slider]
  container.append(...all)
  const { lng, lat } = map.getCenter()
  const pane = paneIn(over, { center: [lng, lat], zoom: map.getZoom() }, true)
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
