import type { Map as MapLibreMap } from 'maplibre-gl'
import type { FeaturesMap } from '../map/features-map.ts'
import { workButton } from '../parts/blocks.ts'
import type { Shape } from '../parts/shape.ts'
import { element } from '../shell/element.ts'
import { field } from '../texts/en.ts'
import { wholeText } from '../texts/names.ts'

/** A device that has just been switched on takes half a minute outside. */
const LONGEST_MS = 30_000

/** A button that shows on the map where the visitor is. */
function positionButton(map: FeaturesMap) {
  return workButton(field.position, async () => {
    const { latitude: lat, longitude: lng, accuracy } = await position()
    await map.mark({ lat, lng })
    return field.positionFound(wholeText(Math.max(1, Math.round(accuracy))))
  })
}

function position(): Promise<GeolocationCoordinates> {
  return new Promise((resolve, reject) => {
    const options = { enableHighAccuracy: true, timeout: LONGEST_MS }
    navigator.geolocation.getCurrentPosition(
      ({ coords }) => resolve(coords),
      // Browsers say the same of pages that did not come by HTTPS.
      ({ code }) => reject(new Error(code === 1 ? field.positionDenied : field.positionUnknown)),
      options,
    )
  })
}

/** Stands out from every colour of values. */
const COLOR = '#d5006d'

/**
 * Has a map be drawn on: a corner a click, done by a click on the first one or by Enter. What is done can be pulled
 * at its corners.
 *
 * @param drawn called with each change
 */
async function drawingOn(map: MapLibreMap, drawn: (shape: Shape) => void) {
  const [
    { TerraDraw, TerraDrawModeUndoRedo, TerraDrawPolygonMode, TerraDrawSelectMode },
    { TerraDrawMapLibreGLAdapter },
  ] = await Promise.all([import('terra-draw'), import('terra-draw-maplibre-gl-adapter')])
  const draw = new TerraDraw({
    adapter: new TerraDrawMapLibreGLAdapter({ map }),
    undoRedo: { modeLevel: new TerraDrawModeUndoRedo() },
    modes: [
      new TerraDrawPolygonMode({
        styles: {
          fillColor: COLOR,
          fillOpacity: 0.2,
          outlineColor: COLOR,
          outlineWidth: 2,
          closingPointColor: COLOR,
        },
      }),
      new TerraDrawSelectMode({
        styles: {
          selectedPolygonColor: COLOR,
          selectedPolygonFillOpacity: 0.2,
          selectedPolygonOutlineColor: COLOR,
          selectionPointColor: COLOR,
          midPointColor: COLOR,
        },
        flags: {
          polygon: {
            feature: { draggable: true, coordinates: { midpoints: true, draggable: true, deletable: true } },
          },
        },
      }),
    ],
  })

  function tell() {
    const shapes = draw.getSnapshot().filter(({ geometry }) => geometry.type === 'Polygon')
    const geometry = shapes.at(-1)?.geometry as Shape | undefined
    if (geometry) drawn({ type: 'Polygon', coordinates: rounded(geometry.coordinates as number[][][]) })
  }

  draw.on('finish', (id, { action }) => {
    tell()
    if (action !== 'draw') return
    draw.setMode('select')
    draw.selectFeature(id)
  })

  return {
    begin() {
      if (!draw.enabled) draw.start()
      draw.clear()
      draw.setMode('polygon')
    },
    /** Closes the outline, as the key does that the library knows. @returns false before there are three corners */
    done() {
      map.getCanvas().dispatchEvent(new KeyboardEvent('keyup', { key: 'Enter' }))
      return draw.getMode() !== 'polygon'
    },
    /** Takes the last corner back. */
    undo: () => draw.undo(),
    end() {
      if (draw.enabled) draw.stop()
    },
  }
}

/** Of drawn corners: 0.1 m, which no hand draws. */
const CORNER_DECIMALS = 6

const rounded = (rings: number[][][]) =>
  rings.map((ring) => ring.map((corner) => corner.map((degrees) => Number(degrees.toFixed(CORNER_DECIMALS)))))

/**
 * Makes the buttons of a drawing, and its hint.
 *
 * @param drawn called with null for one that was cleared
 */
export function drawer(map: FeaturesMap, drawn: (shape: Shape | null) => void) {
  const said = element('p', { role: 'status', class: 'hint' })
  let drawing: ReturnType<typeof drawingOn> | undefined
  const button = workButton(field.draw, async () => {
    const ready = await map.ready
    drawing ??= drawingOn(ready, (shape) => {
      said.textContent = field.drawn(shape.coordinates.flat().length - 1)
      show(clear)
      drawn(shape)
    })
    void map.show([], false)
    const { begin } = await drawing
    begin()
    said.textContent = field.drawing
    show(done, undo, clear)
  })
  const done = quiet(field.done, async () => {
    const { done } = (await drawing) ?? {}
    if (done?.() === false) said.textContent = `${field.wrong.fewPairs()} ${field.drawing}`
  })
  const undo = quiet(field.undo, async () => (await drawing)?.undo())
  const clear = quiet(field.clear, () => {
    end()
    drawn(null)
  })

  /** Shows these buttons alone. The keyboard goes on at one that is there. */
  function show(...shown: HTMLElement[]) {
    const { activeElement } = document
    const buttons = [done, undo, clear]
    const isLost = buttons.some((one) => one === activeElement && !shown.includes(one))
    for (const one of buttons) one.hidden = !shown.includes(one)
    if (isLost) (shown[0] ?? button.querySelector('button'))?.focus()
  }

  function end() {
    said.textContent = ''
    show()
    drawing?.then(
      ({ end }) => end(),
      () => {},
    )
  }

  return {
    buttons: [button, done, undo, clear],
    said,
    /** Takes what is drawn away: something else is shown. */
    end,
  }
}

function quiet(label: string, onclick: () => unknown) {
  return element('button', { type: 'button', class: 'quiet', hidden: true, onclick }, label)
}

export function mapCard(map: FeaturesMap, { buttons, said }: ReturnType<typeof drawer>) {
  const actions = element('div', { class: 'actions' }, ...buttons, positionButton(map))
  return element('section', { class: 'card map-card' }, map.place, actions, said)
}
