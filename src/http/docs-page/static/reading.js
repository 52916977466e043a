// Runs in the browser: has the commands of the guide work here as they stand, and opens chapters that links lead to.

const { withAddressesOfVisitor } = await import(`./visitor.js${new URL(import.meta.url).search}`)

/** Where the commands of the documents ask. */
const WRITTEN = 'http://127.0.0.1:3000'

/** Where this service is, with what stands before its paths. */
const here = new URL('../..', import.meta.url).href.replace(/\/$/, '')

for (const code of document.querySelectorAll('.reading pre code')) {
  code.textContent = withAddressesOfVisitor(code.textContent).replaceAll(WRITTEN, here)
}

/** A chapter that was opened after its link was followed lies elsewhere than the browser has looked for it. */
function openLinked() {
  const linked = document.getElementById(decodeURIComponent(location.hash.slice(1)))
  const chapter = linked?.closest('.reading details')
  if (!chapter || chapter.open) return
  chapter.open = true
  linked.scrollIntoView()
}

globalThis.addEventListener('hashchange', openLinked)
openLinked()
