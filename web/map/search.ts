import type { FoundArea, FoundAreas, Place } from '../api-types.ts'
import { element, labelled } from '../shell/element.ts'
import { mapTexts, TEXTS } from '../texts/en.ts'

interface Actions {
  find: (name: string) => Promise<FoundAreas>
  /** @param code of a country */
  countryNamed: (code: string) => string
  showArea: (area: FoundArea) => void
  showPlace: (place: Place) => void
}

/** A form that finds areas by their names, and takes coordinates. */
export function searchForm({ find: ask, countryNamed, showArea, showPlace }: Actions) {
  const texts = mapTexts.search
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
  const choose = (area: FoundArea) => {
    list.replaceChildren()
    said.textContent = ''
    input.value = area.name
    showArea(area)
  }
  const find = async () => {
    const wanted = input.value
    if (wanted.trim() === '') {
      list.replaceChildren()
      said.textContent = ''
      return undefined
    }
    const answer = await ask(wanted).catch((error: Error) => error)
    // The visitor has typed on meanwhile.
    if (wanted !== input.value) return undefined
    if (answer instanceof Error) {
      list.replaceChildren()
      said.textContent = TEXTS.failed(answer.message)
      return undefined
    }
    const { items, is_near: isNear, position } = answer
    const named = byFullName(items, countryNamed)
    if (position) said.textContent = ''
    else if (named.size === 0) said.textContent = texts.none(wanted)
    else said.textContent = isNear ? texts.near(wanted) : texts.results(named.size)
    list.replaceChildren(
      ...[...named].map(([text, area]) =>
        element('li', {}, element('button', { type: 'button', onclick: () => choose(area) }, text)),
      ),
    )
    // A guess takes the visitor nowhere.
    return { position, first: isNear ? undefined : onlyOne([...named.values()], wanted) }
  }
  input.addEventListener('input', find)
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const found = await find()
    if (found?.position) showPlace(found.position)
    else if (found?.first) choose(found.first)
  })
  return form
}

/** The only area, or the only one that has the text as its name or its code, but for smaller ones inside of it. */
function onlyOne(found: FoundArea[], text: string) {
  const key = nameKey(text)
  const called = found.filter(({ name, code }) => [name, code].map(nameKey).includes(key))
  const [first, ...others] = called.length > 0 ? called : found
  return others.every(({ parent }) => parent === first?.name) ? first : undefined
}

const nameKey = (text: string) =>
  text
    .normalize('NFD')
    .replace(/\p{Mark}/gu, '')
    .trim()
    .toLowerCase()

/**
 * Areas by their names and those of the area above and the country. Of some that are called alike, such as a city that is
 * its own district, the first stands for all.
 */
function byFullName(found: FoundArea[], countryNamed: Actions['countryNamed']) {
  const named = new Map<string, FoundArea>()
  for (const area of found) {
    const names = [area.name, area.parent ?? area.name, countryNamed(area.country_code)]
    const text = mapTexts.search.within(...new Set(names))
    if (!named.has(text)) named.set(text, area)
  }
  return named
}
