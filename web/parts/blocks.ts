import { button, copyButton, element } from '../shell/element.ts'
import { partsThatAreOn } from '../shell/extensions.ts'
import { TEXTS } from '../texts/en.ts'

/** A part of a page, under a heading of its own. */
export function section(title: string, ...content: (Node | string | null | undefined | false)[]) {
  return element('section', { class: 'card' }, element('h3', {}, title), ...content)
}

/** The parts of a page, one below the other. */
export const column = (...parts: Parameters<typeof section>[1][]) =>
  element('div', { class: 'column' }, ...parts)

/** A form that opens where somebody wants it. */
export function onRequest(label: string, form: Node, open = false) {
  return element('details', { class: 'request', open }, element('summary', {}, label), form)
}

/**
 * A place whose content has to be asked for: says that it is loading, then what is there or why it is not, with a
 * button to try again.
 */
export function loaded(load: () => Promise<Node>): HTMLElement & { reload: () => Promise<void> } {
  const place = element('div', { class: 'loaded', 'aria-busy': 'true' }, TEXTS.loading)
  async function reload() {
    place.setAttribute('aria-busy', 'true')
    try {
      place.replaceChildren(await load())
    } catch (error) {
      if ((error as Error).name !== 'AbortError') place.replaceChildren(problem(error, reload))
    }
    place.removeAttribute('aria-busy')
  }
  void reload()
  return Object.assign(place, { reload })
}

export function problem(error: unknown, again: () => unknown) {
  return element(
    'p',
    { class: 'problem', role: 'alert' },
    TEXTS.failed((error as Error).message),
    ' ',
    button(TEXTS.again, again),
  )
}

/** A table in a place that scrolls where it is wide. */
export function wideTable(label: string, ...content: HTMLElement[]) {
  const properties = { className: 'scroll', tabIndex: 0, role: 'region', 'aria-label': label }
  return element('div', properties, element('table', {}, ...content))
}

/** A button that says in a line beside it how it went. */
export function workButton(
  label: string,
  work: () => Promise<string | undefined> | Promise<void>,
  attributes: { class?: string; 'aria-label'?: string } = {},
) {
  const said = element('span', { role: 'status' })
  const worker = element('button', { type: 'button', class: 'quiet', ...attributes }, label)
  worker.addEventListener('click', async () => {
    if (worker.getAttribute('aria-disabled') === 'true') return
    worker.setAttribute('aria-disabled', 'true')
    said.replaceChildren()
    try {
      said.replaceChildren((await work()) ?? '')
    } catch (error) {
      said.replaceChildren((error as Error).message)
    }
    worker.removeAttribute('aria-disabled')
  })
  return element('span', { class: 'work' }, worker, ' ', said)
}

/** A button that deletes something, once somebody is sure. */
export function removeButton(named: string, sure: string, remove: () => Promise<void>) {
  const work = async () => {
    if (confirm(sure)) await remove()
  }
  return workButton(TEXTS.remove, work, { class: 'danger', 'aria-label': named })
}

/**
 * How far a long work is.
 *
 * @param text says how much of it is done
 * @param stop ends it, where that can be done
 */
export function progressBar({
  label,
  most,
  text,
  stop,
}: {
  label: string
  most: number
  text: (done: number) => string
  stop?: () => void
}) {
  const bar = element('progress', { max: most, value: 0, 'aria-label': label })
  const said = element('span', { role: 'status' }, text(0))
  const stopper = stop && button(TEXTS.stop, stop)
  return {
    place: element('div', { class: 'actions' }, bar, said, stopper),
    set(done: number) {
      bar.value = done
      said.textContent = text(done)
    },
    end(told: string) {
      stopper?.remove()
      said.textContent = told
    },
  }
}

/** A time as the visitor writes it. */
export function timeText(time: string | null) {
  return time === null
    ? TEXTS.never
    : new Date(time).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })
}

/** Where something that a page shows is made up. A page says so once. */
export function syntheticNotice(isSynthetic: boolean) {
  return element('p', { className: 'notice', hidden: !isSynthetic }, TEXTS.synthetic)
}

/** Something that is shown once, with a button that copies it. */
export function shownOnce(label: string, text: string) {
  const shown = element('output', { class: 'secret', 'aria-label': label, tabindex: 0 }, text)
  return element(
    'div',
    { class: 'once' },
    shown,
    copyButton(TEXTS.copy, () => text),
  )
}

/** What somebody may want of a place, as forms read it from an address. */
export type PlaceLink = (wanted: Record<string, string | null | undefined>) => HTMLElement | false

const LINKS = import.meta.glob<PlaceLink>('../extensions/*/place.ts', { eager: true, import: 'link' })

/** The ways to what extensions do with a place. */
export const placeLinks = (...wanted: Parameters<PlaceLink>) =>
  partsThatAreOn(LINKS).flatMap((link) => link(...wanted) || [])

/** Excel reads a table without it in the code page of its computer. */
const BYTE_ORDER_MARK = '\ufeff'

/** Has the browser save a file. */
export function save(content: BlobPart, name: string, type = 'text/csv;charset=utf-8') {
  const mark = type.startsWith('text/csv') ? BYTE_ORDER_MARK : ''
  const address = URL.createObjectURL(new Blob([mark, content], { type }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  // The download has begun by then.
  setTimeout(() => URL.revokeObjectURL(address), 1000)
}
