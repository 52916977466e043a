import type { Area, Place } from '../api-types.ts'
import { placeIn } from '../geo/areas.ts'
import { element, labelled } from '../shell/element.ts'
import { TEXTS } from '../texts/en.ts'

const MOST_RESULTS = 8

/** So many letters of a name may differ for each slip, at most. */
const LETTERS_A_SLIP = 4

/**
 * The areas that somebody means: those whose name has the text in it, or else those where a part of the name is near to
 * it. Case and accents do not matter.
 *
 * @param areas those that come first do so among equals
 */
export function areasCalled(areas: Area[], wanted: string): { found: Area[]; isNear: boolean } {
  const text = plain(wanted)
  const names = areas.map((area) => ({ area, name: plain(area.name) }))
  const called = names.filter(({ name }) => name.includes(text))
  if (called.length > 0 || text.length < LETTERS_A_SLIP) {
    const rank = (name: string) => (name === text ? 0 : name.startsWith(text) ? 1 : 2)
    called.sort((a, b) => rank(a.name) - rank(b.name) || a.area.level - b.area.level)
    return { found: first(called), isNear: false }
  }
  const near = names
    .map((one) => ({ ...one, slips: slipsTo(text, one.name) }))
    .filter(({ slips }) => slips <= text.length / LETTERS_A_SLIP)
    .sort(
      (a, b) =>
        a.slips - b.slips ||
        Math.abs(a.name.length - text.length) - Math.abs(b.name.length - text.length) ||
        a.area.level - b.area.level,
    )
  return { found: first(near), isNear: true }
}

const first = (ranked: { area: Area }[]) => ranked.slice(0, MOST_RESULTS).map(({ area }) => area)

const plain = (text: string) => text.trim().normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()

/** How many letters have to be put in, left out or replaced to make a text a part of a name (Sellers, 1980). */
function slipsTo(text: string, name: string) {
  let last = Array.from({ length: name.length + 1 }, () => 0)
  for (const [row, letter] of [...text].entries()) {
    const current = [row + 1]
    for (const [column, other] of [...name].entries()) {
      const replaced = (last[column] ?? 0) + Number(letter !== other)
      current.push(Math.min(replaced, (last[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1))
    }
    last = current
  }
  return Math.min(...last)
}

interface Actions {
  /** All that can be found; asked for when somebody begins to search. */
  areas: () => Promise<Area[]>
  showArea: (area: Area) => void
  showPlace: (place: Place) => void
}

/** A form that finds areas by their names, and takes coordinates. */
export function searchForm({ areas, showArea, showPlace }: Actions) {
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
  const choose = (area: Area) => {
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
    // The visitor has typed on meanwhile.
    if (wanted !== input.value) return []
    const { found, isNear } = areasCalled(all, wanted)
    const named = byFullName(found, all)
    if (named.size === 0) said.textContent = texts.none(wanted)
    else said.textContent = isNear ? texts.near(wanted) : texts.results(named.size)
    list.replaceChildren(
      ...[...named].map(([text, area]) =>
        element('li', {}, element('button', { type: 'button', onclick: () => choose(area) }, text)),
      ),
    )
    // A guess takes the visitor nowhere.
    return isNear ? [] : found
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

/**
 * Areas by their names and those of the areas above. Of some that are called alike, such as a city that is its own
 * district, the first stands for all.
 */
function byFullName(found: Area[], all: Area[]) {
  const key = (country: string, code: string | null) => `${country} ${code}`
  const known = new Map(all.map((area) => [key(area.country_code, area.code), area]))
  const named = new Map<string, Area>()
  for (const area of found) {
    const names = [area.name]
    for (let one = known.get(key(area.country_code, area.parent)); one; ) {
      if (one.name !== names.at(-1)) names.push(one.name)
      one = known.get(key(one.country_code, one.parent))
    }
    const text = TEXTS.search.within(...names)
    if (!named.has(text)) named.set(text, area)
  }
  return named
}
