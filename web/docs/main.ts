import { copyButton, element, labelled, select } from '../shell/element.ts'
import { frame } from '../shell/frame.ts'
import { TEXTS } from '../texts/en.ts'
import { type Document, operationsOf, type Untyped } from './document.ts'
import { withAddressesOfVisitor } from './following.ts'
import { docsPlugins } from './swagger.ts'

/** Languages of code, by how the documents mark them. */
const LANGUAGES = { sh: 'curl', js: 'JavaScript', python: 'Python' }

const content = [...document.body.childNodes]
frame('docs').append(...content)

for (const code of document.querySelectorAll('pre code')) {
  code.textContent = withAddressesOfVisitor(code.textContent ?? '')
}
// Wide ones are moved by keys, too.
for (const block of document.querySelectorAll('pre')) block.tabIndex = 0
for (const card of document.querySelectorAll('.cards .card')) showOneLanguage(card)

// Read by the settings of Swagger UI, which begins when all is loaded.
Object.assign(globalThis, { docsPlugins: docsPlugins(begin) })

addEventListener('hashchange', openLinked)
openLinked()

function showOneLanguage(card: Element) {
  const blocks = [...card.querySelectorAll('pre')]
  const names = blocks.map((block) => block.firstElementChild?.className.replace('language-', '') ?? '')
  const options = names.map((value) => ({ value, text: Reflect.get(LANGUAGES, value) }))
  const show = (chosen: string) => {
    for (const [at, block] of blocks.entries()) block.hidden = names[at] !== chosen
  }
  const chooser = labelled(TEXTS.calls.language, select(options, 'sh', show))
  const shown = () => blocks.find((block) => !block.hidden)?.textContent ?? ''
  blocks[0]?.before(chooser)
  blocks.at(-1)?.after(copyButton(TEXTS.copy, shown))
  show('sh')
}

function begin(system: Untyped) {
  const box = element('input', { type: 'search', placeholder: TEXTS.docs.searchHint })
  box.addEventListener('input', () => {
    if (box.value.trim()) chooseWhole()
    system.layoutActions.updateFilter(box.value.trim())
  })
  document
    .querySelector('#swagger-ui')
    ?.before(element('div', { className: 'search', role: 'search' }, labelled(TEXTS.docs.search, box)))
  // Swagger UI looks at the address once, when it has loaded.
  addEventListener('hashchange', () => {
    const { hash } = location
    if (!hash.startsWith('#/')) return
    box.value = ''
    system.layoutActions.updateFilter('')
    if (!hasLinked(system.specSelectors.specJS(), hash)) chooseWhole()
    system.layoutActions.parseDeepLinkHash(hash)
    scrollToOpened()
  })
}

/** Loads the document of all operations, the last in the chooser. */
function chooseWhole() {
  const chooser = document.querySelector('.topbar select') as HTMLSelectElement | null
  if (!chooser || chooser.selectedIndex === chooser.options.length - 1) return
  chooser.selectedIndex = chooser.options.length - 1
  chooser.dispatchEvent(new Event('change', { bubbles: true }))
}

/** Whether a document has the operation of a link. */
function hasLinked(document: Document, hash: string) {
  const [, , id] = hash.split('/')
  return operationsOf(document).some(({ operationId }) => operationId === id)
}

/** Frames until the largest document is drawn. */
const MOST_FRAMES = 600

/** The target of a link is drawn a few frames later. */
function scrollToOpened() {
  const [, tag, operation] = location.hash.split('/')
  const id = operation ? `operations-${tag}-${operation}` : `operations-tag-${tag}`
  const look = (frames: number) => {
    const found = document.getElementById(id)
    if (found) found.scrollIntoView()
    else if (frames > 0) requestAnimationFrame(() => look(frames - 1))
  }
  requestAnimationFrame(() => look(MOST_FRAMES))
}

/** A chapter that is folded lies elsewhere once it is open. */
function openLinked() {
  if (location.hash.startsWith('#/')) return
  const linked = document.getElementById(decodeURIComponent(location.hash.slice(1)))
  const chapter = linked?.closest('details')
  if (!linked || !chapter || chapter.open) return
  chapter.open = true
  linked.scrollIntoView()
}
