import { element, replaceControls } from '../shell/element.ts'
import { frame } from '../shell/frame.ts'
import { TEXTS } from '../texts/en.ts'
import { problem } from './blocks.ts'
import { createSession, openStorage, type Session } from './session.ts'

/** The state of a page in its address; null is left out. */
type Shown = { [name: string]: string | null }

export interface Page {
  session: Session
  /** The state in the address. */
  view: URLSearchParams
  /** Puts it there, which makes the page anew. */
  remember: (view: Shown) => void
  /** Puts it there, and the page stays as it is. */
  note: (view: Shown) => void
  /** Aborts when another page takes its place. */
  left: AbortSignal
}

/** Makes a page in the frame, and anew where its address changes or somebody else is logged in. */
export function startPage(
  name: Parameters<typeof frame>[0],
  title: string,
  open: (page: Page) => Promise<HTMLElement>,
) {
  const main = frame(name)
  main.classList.add('page')
  document.title = `${title} – ${TEXTS.name}`
  const heading = element('h2', { tabIndex: -1 }, title)
  const session = createSession(openStorage(), () => {
    // A page that asked for the login in the middle of something goes on with it.
    if (!main.querySelector('[data-goes-on]')) void show(true)
  })
  let leaving = new AbortController()

  /** @param again whether somebody is at the page already, whose place in it is lost */
  async function show(again = false) {
    leaving.abort()
    leaving = new AbortController()
    const { signal } = leaving
    const view = new URLSearchParams(location.hash.slice(1))
    main.setAttribute('aria-busy', 'true')
    const content = await open({ session, view, remember, note, left: signal }).catch((error) =>
      problem(error, () => show(true)),
    )
    if (signal.aborted) return
    const isAtChoice = document.activeElement instanceof HTMLSelectElement
    const isThere = replaceControls(main, heading, content)
    if (again && !(isAtChoice && isThere)) heading.focus()
    main.removeAttribute('aria-busy')
  }

  addEventListener('hashchange', () => show(true))
  void show()
}

/** Has the address say what is shown, so that a link opens it again; that makes the page anew. */
function remember(view: Record<string, string | null>) {
  location.hash = hashOf(view)
}

/** The same, and the page stays as it is. */
function note(view: Record<string, string | null>) {
  // A hash alone would be one of the front page: addresses are seen from there.
  history.replaceState(null, '', `${location.pathname}#${hashOf(view)}`)
}

function hashOf(view: Record<string, string | null>) {
  const said = Object.entries(view).filter(([, value]) => value)
  return new URLSearchParams(said as [string, string][]).toString().replaceAll('%2C', ',')
}
