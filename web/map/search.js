import { placeIn } from '../geo/places.js'
import { element, labelled } from '../shell/element.js'
import { TEXTS } from '../texts/en.js'

/** @typedef {import('../api-types').Area} Area */

const MOST_RESULTS = 8

/**
 * The areas whose name has a text in it, those that begin with it first. Case and accents do not matter.
 *
 * @param {Area[]} areas
 * @param {string} wanted
 */
export function areasCalled(areas, wanted) {
  const text = plain(wanted)
  const rank = (/** @type {Area} */ { name }) => {
    const at = plain(name).indexOf(text)
    return at < 0 ? undefined : at === 0 ? 0 : 1
  }
  return areas
    .map((area) => ({ area, rank: rank(area) }))
    .filter((found) => found.rank !== undefined)
    .sort((a, b) => Number(a.rank) - Number(b.rank) || a.area.level - b.area.level)
    .slice(0, MOST_RESULTS)
    .map(({ area }) => area)
}

/** @param {string} text */
const plain = (text) => text.trim().normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()

/**
 * A form that finds areas by their names, and takes coordinates.
 *
 * @param {object} actions
 * @param {() => Promise<Area[]>} actions.areas all that can be found; asked for when somebody begins to search
 * @param {(area: Area) => void} actions.showArea
 * @param {(place: import('../api-types').Place) => void} actions.showPlace
 */
export function searchForm({ areas, showArea, showPlace }) {
  const texts = TEXTS.search
  const input = element('input', {
    type: 'search',
    autocomplete: 'off',
    placeholder: texts.hint,
    name: 'place',
  })
  const said = element('p', { className: 'small', role: 'status' })
  const list = element('ul', { className: 'results' })
  const form = element(
    'form',
    { className: 'search', role: 'search', 'aria-label': texts.title },
    labelled(texts.label, input),
    element('button', { type: 'submit' }, texts.submit),
    said,
    list,
  )
  /** @param {Area} area */
  const choose = (area) => {
    list.replaceChildren()
    said.textContent = ''
    input.value = area.name
    showArea(area)
  }
  const find = async () => {
    const wanted = input.value
    if (wanted.trim() === '' || placeIn(wanted)) {
      list.replaceChildren()
      said.textContent = ''
      return []
    }
    const all = await areas()
    // Somebody has typed on meanwhile.
    if (wanted !== input.value) return []
    const found = areasCalled(all, wanted)
    const parents = new Map(all.map((area) => [area.code, area.name]))
    said.textContent = found.length > 0 ? texts.results(found.length) : texts.none(wanted)
    list.replaceChildren(
      ...found.map((area) => {
        const parent = area.parent && parents.get(area.parent)
        const text = parent ? texts.within(area.name, parent) : area.name
        return element('li', {}, element('button', { type: 'button', onclick: () => choose(area) }, text))
      }),
    )
    return found
  }
  input.addEventListener('input', find)
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const place = placeIn(input.value)
    if (place) showPlace(place)
    else {
      const [first] = await find()
      if (first) choose(first)
    }
  })
  return form
}
