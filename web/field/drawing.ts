/** @typedef {import('./shape.ts').Shape} Shape */

/** Stands out from every colour of values. */
const COLOR = '#d5006d'

/**
 * Has a map be drawn on: a corner a click, done by a click on the first one or by Enter. What is done can be pulled
 * at its corners.
 *
 * @param {import('maplibre-gl').Map} map
 * @param {(shape: Shape) => void} drawn called with each change
 */
export async function drawingOn(map, drawn) {
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
    const geometry = /** @type {Shape | undefined} */ (shapes.at(-1)?.geometry)
    if (geometry) drawn({ type: 'Polygon', coordinates: /** @type {number[][][]} */ (geometry.coordinates) })
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
