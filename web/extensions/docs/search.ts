import { element } from '../../shell/element.ts'
import { ROOT } from '../../shell/frame.ts'
import { TEXTS } from '../../texts/en.ts'
import { docs } from './texts.ts'

/** A chapter of a guide, an operation, or a code of errors. */
interface Entry {
  /** Relative to the folder of the documentation. */
  href: string
  title: string
  where: string
  excerpt: string
}

async function load(phrase: string): Promise<Entry[]> {
  const answer = await fetch(new URL(`docs/search.json?q=${encodeURIComponent(phrase)}`, ROOT))
  if (!answer.ok) throw new Error(String(answer.status))
  return answer.json()
}

/**
 * Makes the search: a button, and a window that it or Ctrl-K opens.
 *
 * @param addressOf makes an address of that of an entry
 */
export function createSearch(addressOf: (href: string) => string) {
  const box = element('input', {
    type: 'search',
    'aria-label': docs.search,
    placeholder: docs.searchHint,
  })
  const count = element('p', { className: 'small', role: 'status' })
  const results = element('ul', { className: 'found' })
  const dialog = element('dialog', { className: 'search', 'aria-label': docs.search }, box, count, results)

  async function show() {
    const phrase = box.value.trim()
    const found = phrase ? await load(phrase).catch(() => null) : []
    // Another letter was typed meanwhile.
    if (phrase !== box.value.trim()) return
    results.replaceChildren(...(found ?? []).map((entry) => rowOf(entry, addressOf)))
    count.textContent = found === null ? TEXTS.unreachable : phrase && docs.found(found.length, phrase)
  }

  function open() {
    if (!dialog.open) dialog.showModal()
    box.select()
    void show()
  }

  box.addEventListener('input', () => void show())
  dialog.addEventListener('click', ({ target }) => {
    if (target === dialog || (target instanceof Element && target.closest('a'))) dialog.close()
  })
  dialog.addEventListener('keydown', (event) => {
    // A box for searches would be emptied first.
    if (event.key === 'Escape') dialog.close()
    else moveIn([box, ...results.querySelectorAll('a')], event)
  })
  addEventListener('keydown', (event) => {
    if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    open()
  })
  const button = element(
    'button',
    { type: 'button', className: 'quiet search-button', onclick: open, 'aria-keyshortcuts': 'Control+K' },
    docs.search,
    element('kbd', { className: 'small' }, docs.keys),
  )
  return { button, dialog }
}

/** Arrows go through the results, and Enter in the box opens the first. */
function moveIn(stops: HTMLElement[], event: KeyboardEvent) {
  const at = stops.indexOf(document.activeElement as HTMLElement)
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (step !== undefined && at >= 0) {
    event.preventDefault()
    stops[at + step]?.focus()
  } else if (event.key === 'Enter' && at === 0) stops[1]?.click()
}

function rowOf({ href, title, where, excerpt }: Entry, addressOf: (href: string) => string) {
  return element(
    'li',
    {},
    element(
      'a',
      { href: addressOf(href) },
      element('strong', {}, title),
      element('span', { className: 'small' }, where),
      element('span', { className: 'excerpt' }, excerpt),
    ),
  )
}
