import { element } from '../../shell/element.ts'
import { frame, ROOT } from '../../shell/frame.ts'
import { TEXTS } from '../../texts/en.ts'
import { followLanguage, pointGuides, prepareCode } from './code.ts'
import { followReading, targetOf } from './contents.ts'
import { closePanel, openPanel } from './panel.ts'
import { createSearch } from './search.ts'
import { docs } from './texts.ts'

const content = [...document.body.childNodes]
frame('docs').append(...content)

const contents = document.querySelector('.contents') as HTMLDetailsElement
const operations = [...document.querySelectorAll<HTMLDetailsElement>('.operation')]
const { folder = '' } = document.querySelector<HTMLElement>('.docs')?.dataset ?? {}

prepareCode(document)
followLanguage()
followReading(contents)
const { button, dialog } = createSearch(addressOf)
const side = element('div', { className: 'side' }, button, dialog)
contents.before(side)
side.append(contents)

for (const operation of operations) {
  operation.addEventListener('toggle', () => {
    if (!operation.open) return
    void fill(operation)
    // A link that leads here has this address, or one that says more.
    const { hash = '' } = operation.dataset
    if (!location.hash.startsWith(hash)) history.replaceState(null, '', hash)
  })
}
addEventListener('hashchange', () => void follow())
void follow()

/** On the page with the operations, links to them are links of the page. */
function addressOf(href: string) {
  return operations.length > 0 && href.startsWith('.#') ? href.slice(1) : folder + href
}

/** Shows what the address names. */
async function follow() {
  const { hash } = location
  const wanted = hash && document.getElementById(targetOf(hash))
  // Chapters of the guide were on this page.
  if (wanted === null && operations.length > 0 && !hash.startsWith('#/'))
    location.replace(`${folder}guide${hash}`)
  if (!(wanted instanceof HTMLElement)) return
  if (wanted instanceof HTMLDetailsElement) {
    wanted.open = true
    const body = await fill(wanted)
    const tries = body?.querySelector<HTMLButtonElement>('.try')
    if (hash.endsWith('/try') && tries?.ariaExpanded === 'false') tries.click()
  }
  wanted.scrollIntoView()
}

/** Loads what is to be read of an operation, once. */
async function fill(operation: HTMLDetailsElement) {
  const before = operation.querySelector<HTMLElement>('.body')
  if (before) return before
  const body = element('div', { className: 'body' }, element('p', {}, TEXTS.loading))
  operation.append(body)
  const id = operation.id.replace('op-', '')
  const answer = await fetch(new URL(`docs/operations/${id}`, ROOT)).catch(() => null)
  if (!answer?.ok) {
    // Opened again, it is asked for again.
    body.replaceWith(element('p', { className: 'problem', role: 'alert' }, TEXTS.unreachable))
    return null
  }
  operation.querySelector(':scope > .problem')?.remove()
  // The service makes it, with all texts escaped.
  body.innerHTML = await answer.text()
  prepareCode(body)
  pointGuides(body, folder)
  body.prepend(createTry(body, id))
  return body
}

/** A button that opens and closes the form of an operation. */
function createTry(body: HTMLElement, id: string) {
  const tries = element('button', { type: 'button', className: 'try', 'aria-expanded': 'false' }, docs.tryIt)
  tries.addEventListener('click', () => {
    if (tries.ariaExpanded === 'true') closePanel()
    else void openPanel(body, tries, id)
  })
  return element('p', { className: 'actions' }, tries)
}
