import type { Map as MapLibreMap } from 'maplibre-gl'
import type { Shape } from './shape.ts'

/** Stands out from every colour of values. */
const COLOR = '#d5006d'

/**
 * Has a map be drawn on: a corner a click, done by a click on the first one or by Enter. What is done can be pulled
 * at its corners.
 *
 * @param drawn called with each change
 */
export async function drawingOn(map: MapLibreMap, drawn: (shape: Shape) => void) {
  const [{ TerraDraw, TerraDrawPolygonMode, TerraDrawSelectMode }, { TerraDrawMapLibreGLAdapter }] =
    await Promise.all([import('terra-draw'), import('terra-draw-maplibre-gl-adapter')])
  const draw = new TerraDraw({
    adapter: new TerraDrawMapLibreGLAdapter({ map }),
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
    if (geometry) drawn({ type: 'Polygon', coordinates: geometry.coordinates as number[][][] })
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
    end() {
      if (draw.enabled) draw.stop()
    },
  }
}
