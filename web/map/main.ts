import type { Area, Catalog, FoundArea, FoundAreas, Place } from '../api-types.ts'
import { type AreasOf, areaSource, boundsOf, createAreas, shortPlace } from '../geo/areas.ts'
import {
  type Compared,
  choicesOf,
  comparedWith,
  createConditions,
  createLayers,
  layerOf,
  nameOdds,
  releaseIn,
} from '../parts/choices.ts'
import { readView, type View, writeView } from '../parts/view.ts'
import { get, loadCatalog } from '../shell/api.ts'
import { element, replaceControls } from '../shell/element.ts'
import { frame } from '../shell/frame.ts'
import { TEXTS } from '../texts/en.ts'
import { nameIn } from '../texts/names.ts'
import { choosers, layout, modeChooser, type Offered } from './controls.ts'
import { legend } from './legend.ts'
import { createPlaceRoom } from './room.ts'
import { searchForm } from './search.ts'
import { createStage } from './stage.ts'

/** The page with the map: the address says what it shows, and follows what is chosen. */
async function createMapPage(main: HTMLElement, catalog: Catalog) {
  const source = { catalog, areasOf: createAreas(catalog) }
  const parts = layout(main, catalog)
  const page = new MapPage(parts, source)
  // A map that moves may have written another hash since.
  addEventListener('hashchange', ({ newURL }) => page.change(readView(new URL(newURL).hash)))
  await page.update()
}

class MapPage {
  #view = readView(location.hash)
  #updates = 0
  #layersOf = createLayers()
  #conditionsOf = createConditions()
  #parts
  #source
  #room
  #stage

  constructor(parts: ReturnType<typeof layout>, source: { catalog: Catalog; areasOf: AreasOf }) {
    this.#parts = parts
    this.#source = source
    this.#room = createPlaceRoom(parts.place, source, {
      close: () => this.change({ at: null, area: null }),
      setHectares: (hectares) => this.#say({ hectares }),
      setCondition: (condition) => this.change({ condition }),
    })
    this.#stage = createStage(parts, source, {
      camera: this.#view.camera,
      moved: (camera) => this.#say({ camera }),
      choose: async (at) => {
        await this.change({ at, area: null })
        this.#room.reveal()
      },
      open: (area) => this.#showArea(area),
    })
    const actions = {
      find: (name: string) => this.#find(name),
      countryNamed: (code: string) => nameIn(source.catalog.countries, code),
      showArea: (area: FoundArea) => this.#showArea(area),
      showPlace: (at: Place) => this.#showPlace(at),
    }
    parts.search.replaceChildren(searchForm(actions))
  }

  async change(changes: Partial<View>) {
    this.#say(changes)
    await this.update()
  }

  /** Shows what the view says. */
  async update() {
    const mine = ++this.#updates
    const { catalog } = this.#source
    const choices = choicesOf(catalog, this.#view)
    if (!choices) {
      this.#parts.message.textContent = TEXTS.nothingPublished
      return
    }
    const { release, months } = choices
    const { product, country_code: country, crop, forecast_period: month } = release
    // The newest month stays the newest: a link does not say it, unless somebody has chosen it.
    this.#say({ product, country, crop, month: month === months[0] ? null : month })
    try {
      const tilesets = await this.#layersOf(release.release, this.#view.cut)
      const layers = layerOf(tilesets, this.#view)
      const compared = await comparedWith(catalog, this.#view, layers, this.#layersOf)
      const conditions = layers.conditions.length > 0 && (await this.#conditionsOf(release.release))
      if (mine !== this.#updates) return
      const { layer, shown } = layers
      this.#say({
        input: layer?.input ?? null,
        scenario: layer?.scenario ?? null,
        odds: shown ? nameOdds(shown) : null,
      })
      this.#draw({ choices, layers, conditions: conditions || undefined }, compared)
      const staged = this.#stage.show({ view: this.#view, release, layers, compared })
      await Promise.all([staged, this.#drawPlace()])
    } catch (error) {
      this.#parts.message.textContent = TEXTS.failed((error as Error).message)
    }
  }

  #draw(offered: Offered, compared: Compared | undefined) {
    const { layers } = offered
    const { release } = offered.choices
    const view = this.#view
    const { catalog } = this.#source
    const change = (changes: Partial<View>) => this.change(changes)
    replaceControls(
      this.#parts.mode,
      ...(areaSource() ? [modeChooser(view.mode, (mode) => change({ mode }))] : []),
    )
    replaceControls(
      this.#parts.choosers,
      choosers({ catalog, view, ...offered }, change, (opacity) => {
        this.#say({ opacity })
        this.#stage.setOpacity(opacity)
        this.#fade(opacity)
      }),
    )
    const legends = layers.shown ? [legend(layers.shown, release, catalog)] : []
    // Values of one release share their classes; those of two, and odds, do not.
    if (compared && (compared.release !== release || layers.shown !== layers.layer))
      legends.push(legend(compared.layer, compared.release, catalog))
    this.#parts.legend.replaceChildren(...legends)
    this.#fade(view.opacity)
    this.#parts.notice.hidden = !(release.synthetic || compared?.release.synthetic)
  }

  /** Colours of the legend are as those on the map. @param opacity in percent */
  #fade(opacity: number) {
    this.#parts.legend.style.setProperty('--opacity', String(opacity / 100))
  }

  async #drawPlace() {
    const { at, area } = this.#view
    if (at || area) await this.#room.show(this.#view, !this.#parts.notice.hidden)
    else this.#room.clear()
  }

  async #showPlace(at: Place) {
    await this.change({ at, area: null })
    this.#stage.goTo(at)
    this.#room.focus()
  }

  /** Shows the means of an area, and what its country has where that is another one. */
  async #showArea(found: Omit<Area, 'geometry'>) {
    const { country_code: country, level, code } = found
    const chosen = { at: null, area: `${country}/${level}/${code}` }
    const other = country !== this.#view.country && releaseIn(this.#source.catalog, country, this.#view)
    if (other) {
      const { product, crop } = other
      await this.change({ product, country, crop, month: null, compare: null, camera: null, ...chosen })
    } else await this.change(chosen)
    // Boundaries may have been replaced since the search.
    const area = await areaSource()
      ?.find(found)
      .catch(() => null)
    if (area) this.#stage.fit(boundsOf(area))
    this.#room.focus()
  }

  /** The areas that a name may mean; among those called alike, that of the country that is shown is first. */
  async #find(name: string): Promise<FoundAreas> {
    const { items, ...found } = await get<FoundAreas>('places', { name })
    const placeOf = (area: FoundArea) =>
      items.findIndex((other) => other.name === area.name && other.level === area.level)
    const isElsewhere = ({ country_code }: FoundArea) => Number(country_code !== this.#view.country)
    const sorted = items.toSorted((a, b) => placeOf(a) - placeOf(b) || isElsewhere(a) - isElsewhere(b))
    return { ...found, items: sorted }
  }

  /** @param changes what the address is to say from now on */
  #say(changes: Partial<View>) {
    const at = changes.at && shortPlace(changes.at)
    this.#view = { ...this.#view, ...changes, ...(at && { at }) }
    history.replaceState(null, '', writeView(this.#view))
  }
}

const main = frame('map')
await open()

async function open() {
  main.replaceChildren(element('p', { className: 'message', role: 'status' }, TEXTS.loading))
  try {
    await createMapPage(main, await loadCatalog())
  } catch (error) {
    main.replaceChildren(
      element('p', { className: 'message', role: 'alert' }, TEXTS.failed((error as Error).message)),
      element('button', { type: 'button', onclick: open }, TEXTS.again),
    )
  }
}
