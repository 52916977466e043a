import { orNone, pixelAt } from '../geo/areas.ts'
import { showTable } from '../table/table.ts'
import { TEXTS } from '../texts/en.ts'
import { canDraw, createCanvas } from './canvas.ts'

/**
 * @typedef {import('../api-types.ts').Catalog} Catalog
 * @typedef {import('../api-types.ts').CatalogRelease} CatalogRelease
 * @typedef {import('../api-types.ts').Place} Place
 *
 * @typedef {object} Staged
 * @property {import('./view.ts').View} view
 * @property {CatalogRelease} release
 * @property {ReturnType<typeof import('./choices.ts').layerOf>} layers
 * @property {import('./compared.ts').Compared | undefined} compared
 */

/**
 * Where the layer is shown: on the map, or in the table, which also stands in for a map that cannot be drawn.
 *
 * @param {{ canvas: HTMLElement, table: HTMLElement, message: HTMLElement }} parts
 * @param {{ catalog: Catalog, areasOf: ReturnType<typeof import('../geo/areas.ts').createAreas> }} source
 * @param {object} actions
 * @param {import('./view.ts').View['camera']} actions.camera
 * @param {(camera: { zoom: number, lat: number, lng: number }) => void} actions.moved
 * @param {(place: Place) => void} actions.choose
 * @param {(place: Place) => void} actions.open
 */
export function createStage(
  { canvas, table, message },
  { catalog, areasOf },
  { camera, moved, choose, open },
) {
  const drawable = canDraw()
  let map: Promise<Awaited<ReturnType<typeof createCanvas>> | undefined> | undefined
  let country = ''
  let shows = 0
  /** @type {Pick<import('./pane.ts').Shown, 'countries' | 'areas'>} */
  let base = { countries: [], areas: [] }
  let tabled = ''

  /** @param {CatalogRelease} release */
  function mapOf({ grids }) {
    map ??= createCanvas(canvas, { camera, bounds: grids[0]?.extent, choose, moved }).catch((error) => {
      message.textContent = TEXTS.map.failed
      console.error(error)
      return undefined
    })
    return map
  }

  /** @param {Staged} staged */
  async function showMap({ view, release, layers, compared }) {
    const drawn = await mapOf(release)
    if (!drawn) return false
    const marks = { place: view.at, opacity: view.opacity }
    /** @param {CatalogRelease} of */
    const pixelOf = (of) => (view.at ? pixelAt(of.grids, view.at) : undefined)
    const draw = () =>
      drawn.show(
        { ...base, ...marks, layer: layers.layer, pixel: pixelOf(release) },
        compared && { ...base, ...marks, layer: compared.layer, pixel: pixelOf(compared.release) },
        compared?.names,
      )
    const mine = ++shows
    draw()
    const moves = country !== '' && country !== release.country_code && !view.camera
    country = release.country_code
    if (moves && release.grids[0]) drawn.fit(release.grids[0].extent)
    // Values do not wait for borders.
    const outlines = await Promise.all(catalog.countries.map(({ code }) => orNone(areasOf(code, 0))))
    const areas = await orNone(areasOf(release.country_code, 1))
    if (mine !== shows) return true
    base = { countries: outlines.flat(), areas }
    draw()
    return true
  }

  /** @param {Staged} staged */
  async function tabulate({ release, layers }) {
    const wanted = `${release.release} ${layers.layer?.input}`
    if (wanted === tabled) return
    tabled = wanted
    const product = catalog.products.find((one) => one.product === release.product)
    if (product) await showTable(table, { catalog, product, release, layers, areasOf }, open)
  }

  return {
    /** @param {Staged} staged */
    async show(staged) {
      const asMap = drawable && staged.view.mode === 'map'
      canvas.hidden = !asMap
      table.hidden = asMap
      message.textContent = drawable ? '' : TEXTS.map.no
      if (asMap && (await showMap(staged))) return
      canvas.hidden = true
      table.hidden = false
      await tabulate(staged)
    },
    /** @param {[number, number, number, number]} bounds */
    fit: async (bounds) => (await map)?.fit(bounds),
    /** @param {number} opacity */
    setOpacity: async (opacity) => (await map)?.setOpacity(opacity),
    /** @param {Place} place */
    goTo: async (place) => (await map)?.goTo(place),
  }
}
