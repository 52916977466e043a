import { copyButton, element, labelled, select } from '../shell/element.ts'
import { frame, ROOT } from '../shell/frame.ts'
import { TEXTS } from '../texts/en.ts'
import type { Untyped } from './document.ts'
import { withAddressesOfVisitor } from './following.ts'
import { docsPlugins } from './swagger.ts'

/** Where the commands of the documents ask. */
const WRITTEN = 'http://127.0.0.1:3000'

/** Languages of code, by how the documents mark them. */
const LANGUAGES = { sh: 'curl', js: 'JavaScript', python: 'Python' }

const content = [...document.body.childNodes]
frame('docs').append(...content)

const here = ROOT.href.replace(/\/$/, '')
for (const code of document.querySelectorAll('pre code')) {
  code.textContent = withAddressesOfVisitor(code.textContent ?? '').replaceAll(WRITTEN, here)
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
  box.addEventListener('input', () => system.layoutActions.updateFilter(box.value.trim()))
  document
    .querySelector('#swagger-ui')
    ?.before(element('div', { className: 'search', role: 'search' }, labelled(TEXTS.docs.search, box)))
  // Swagger UI looks at the address once, when it has loaded.
  addEventListener('hashchange', () => {
    if (!location.hash.startsWith('#/')) return
    box.value = ''
    system.layoutActions.updateFilter('')
    system.layoutActions.parseDeepLinkHash(location.hash)
    scrollToOpened()
  })
}

/** The target of a link is drawn a few frames later. */
function scrollToOpened() {
  const [, tag, operation] = location.hash.split('/')
  const id = operation ? `operations-${tag}-${operation}` : `operations-tag-${tag}`
  const look = (frames: number) => {
    const found = document.getElementById(id)
    if (found) found.scrollIntoView()
    else if (frames > 0) requestAnimationFrame(() => look(frames - 1))
  }
  requestAnimationFrame(() => look(60))
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
