import { syntheticNotice } from '../parts/blocks.ts'
import { element } from '../shell/element.ts'
import { TEXTS } from '../texts/en.ts'

/** Narrower ones show the map first, and what to choose below it. */
const WIDE = '(min-width: 60rem)'

/** The parts of the page, each to be filled. */
export function layout(main: HTMLElement) {
  const part = (className: string) => element('div', { className })
  const [search, mode, choosers, legend] = [part('part'), part('part'), part('part'), part('legends')]
  const canvas = part('canvas')
  const table = part('table-room')
  const message = element('p', { className: 'message', role: 'status' })
  const notice = syntheticNotice(false)
  const place = element('section', { className: 'place', 'aria-label': TEXTS.place.title })
  const chooserRoom = element(
    'details',
    { className: 'choosing', open: matchMedia(WIDE).matches },
    element('summary', {}, TEXTS.choosers.title),
    choosers,
  )
  main.className = 'map-page'
  main.replaceChildren(
    element('div', { className: 'side' }, search, mode, chooserRoom),
    element('div', { className: 'stage' }, message, notice, canvas, legend, table),
    place,
  )
  return { search, mode, choosers, legend, canvas, table, message, notice, place }
}

/** Puts new controls where others are; whoever was at one of them is at the new one of its name. */
export function replaceControls(room: HTMLElement, content: HTMLElement) {
  const active = document.activeElement
  const name = active && room.contains(active) ? active.getAttribute('name') : null
  room.replaceChildren(content)
  const again =
    name &&
    [...room.querySelectorAll('[name]')].find(
      (one) =>
        one.getAttribute('name') === name &&
        !(one instanceof HTMLInputElement && one.type === 'radio' && !one.checked),
    )
  if (again instanceof HTMLElement) again.focus()
}

/** A choice between the map and the table. */
export function modeChooser(chosen: 'map' | 'table', choose: (mode: 'map' | 'table') => void) {
  const options = (['map', 'table'] as const).map((mode) => {
    const input = element('input', { type: 'radio', name: 'mode', checked: mode === chosen })
    input.addEventListener('change', () => choose(mode))
    return element('label', {}, input, element('span', {}, TEXTS.choosers[mode]))
  })
  return element(
    'fieldset',
    { className: 'mode' },
    element('legend', { className: 'unseen' }, TEXTS.choosers.mode),
    ...options,
  )
}
