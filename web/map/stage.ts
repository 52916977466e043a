import type { Area, Bounds, Catalog, CatalogRelease, Place } from '../api-types.ts'
import { type AreasOf, createFinest, orNone, outlinesOf, pixelAt } from '../geo/areas.ts'
import type { Compared, Layers } from '../parts/choices.ts'
import type { Camera, View } from '../parts/view.ts'
import { showTable } from '../table/table.ts'
import { TEXTS } from '../texts/en.ts'
import { canDraw, createCanvas } from './canvas.ts'
import type { Shown } from './pane-main.ts'

interface Actions {
  camera: Camera | null
  moved: (camera: Camera) => void
  choose: (place: Place) => void
  open: (area: Area) => void
}

interface Staged {
  view: View
  release: CatalogRelease
  layers: Layers
  compared: Compared | undefined
}

/** Shows the layer on the map, or in the table, which also stands in for a map that cannot be drawn. */
export function createStage(
  { canvas, table, message }: { canvas: HTMLElement; table: HTMLElement; message: HTMLElement },
  { catalog, areasOf }: { catalog: Catalog; areasOf: AreasOf },
  { camera, moved, choose, open }: Actions,
) {
  const drawable = canDraw()
  let map: Promise<Awaited<ReturnType<typeof createCanvas>> | undefined> | undefined
  let country = ''
  let shows = 0
  const finest = createFinest(catalog, areasOf)
  let base: Pick<Shown, 'countries' | 'areas' | 'finest'> = { countries: [], areas: [], finest }
  let tabled = ''

  function mapOf({ grids }: CatalogRelease) {
    map ??= createCanvas(canvas, { camera, bounds: grids[0]?.extent, choose, moved }).catch((error) => {
      message.textContent = TEXTS.map.failed
      console.error(error)
      return undefined
    })
    return map
  }

  async function showMap({ view, release, layers, compared }: Staged) {
    const drawn = await mapOf(release)
    if (!drawn) return false
    const marks = { place: view.at, opacity: view.opacity }
    const pixelOf = (of: CatalogRelease) => (view.at ? pixelAt(of.grids, view.at) : undefined)
    const draw = () =>
      drawn.show(
        { ...base, ...marks, layer: layers.shown, pixel: pixelOf(release) },
        compared && { ...base, ...marks, layer: compared.layer, pixel: pixelOf(compared.release) },
        compared?.names,
      )
    const mine = ++shows
    draw()
    const moves = country !== '' && country !== release.country_code && !view.camera
    country = release.country_code
    if (moves && release.grids[0]) drawn.fit(release.grids[0].extent)
    // Values do not wait for borders.
    const countries = await outlinesOf(catalog, areasOf)
    const areas = await orNone(areasOf(release.country_code, 1))
    if (mine !== shows) return true
    base = { countries, areas, finest }
    draw()
    return true
  }

  async function tabulate({ release, layers }: Staged) {
    const wanted = `${release.release} ${layers.layer?.input} ${layers.layer?.condition}`
    if (wanted === tabled) return
    tabled = wanted
    const product = catalog.products.find((one) => one.product === release.product)
    if (product) await showTable(table, { catalog, product, release, layers, areasOf }, open)
  }

  return {
    async show(staged: Staged) {
      const asMap = drawable && staged.view.mode === 'map'
      canvas.hidden = !asMap
      table.hidden = asMap
      message.textContent = drawable ? '' : TEXTS.map.no
      if (asMap && (await showMap(staged))) return
      canvas.hidden = true
      table.hidden = false
      await tabulate(staged)
    },
    fit: async (bounds: Bounds) => (await map)?.fit(bounds),
    setOpacity: async (opacity: number) => (await map)?.setOpacity(opacity),
    goTo: async (place: Place) => (await map)?.goTo(place),
  }
}
