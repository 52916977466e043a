import { element } from '../shell/element.ts'
import { onThemeChange } from '../shell/theme.ts'
import { createPane } from './pane.ts'
import { createSwipe, FOLLOWING } from './swipe.ts'

/** Whether this browser can draw the map. */
export function canDraw() {
  return document.createElement('canvas').getContext('webgl2') !== null
}

/**
 * The map, and beside it another one to compare with: both are of the same place, and a slider says where they meet.
 *
 * @param {HTMLElement} container
 * @param {object} options
 * @param {{ zoom: number, lat: number, lng: number } | null} options.camera
 * @param {[number, number, number, number] | undefined} options.bounds what is seen where there is no camera
 * @param {(place: import('../api-types.ts').Place) => void} options.choose called with the place that was clicked
 * @param {(camera: { zoom: number, lat: number, lng: number }) => void} options.moved
 */
export async function createCanvas(container, { camera, bounds, choose, moved }) {
  addStyles()
  const maplibre = await import('maplibre-gl')
  const room = element('div', { className: 'pane' })
  container.append(room)
  const start = camera ?? { zoom: 4, lat: 4, lng: 37 }
  const first = createPane(maplibre, room, { center: [start.lng, start.lat], zoom: start.zoom })
  first.map.addControl(new maplibre.NavigationControl({ showCompass: false }), 'top-right')
  first.map.addControl(new maplibre.ScaleControl({}), 'bottom-left')
  if (!camera && bounds) first.map.fitBounds(bounds, { padding: 24, animate: false })
  listen(first)
  let second: ReturnType<typeof createSwipe> | undefined
  onThemeChange(() => {
    first.restyle()
    second?.pane.restyle()
  })

  /** @param {ReturnType<typeof createPane>} pane */
  function listen({ map }) {
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
    /**
     * @param {import('./pane.ts').Shown} shown
     * @param {import('./pane.ts').Shown} [compared] what is on the right, where two are compared
     * @param {{ left: string, right: string }} [names]
     */
    show(shown, compared, names = { left: '', right: '' }) {
      first.show(shown)
      if (!compared) {
        second?.remove()
        second = undefined
        return
      }
      if (!second) {
        second = createSwipe(maplibre, container, first)
        listen(second.pane)
      }
      second.pane.show(compared)
      second.name(names.left, names.right)
    },
    /** @param {number} opacity in percent */
    setOpacity(opacity) {
      first.setOpacity(opacity)
      second?.pane.setOpacity(opacity)
    },
    /** @param {[number, number, number, number]} to west, south, east and north */
    fit: (to) => first.map.fitBounds(to, { padding: 24, maxZoom: 11 }),
    /** @param {import('../api-types.ts').Place} to */
    goTo: ({ lat, lng }) => first.map.easeTo({ center: [lng, lat], zoom: Math.max(first.map.getZoom(), 7) }),
  }
}

function addStyles() {
  const href = new URL('../lib/maplibre-gl/maplibre-gl.css', import.meta.url).href
  document.head.prepend(element('link', { rel: 'stylesheet', href }))
}
