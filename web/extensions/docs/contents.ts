/** Below this line of the window a part is not yet read, in pixels. */
const READ = 80

/** So wide is a window that has the list at its side. */
const WIDE = matchMedia('(min-width: 64rem)')

/** The list at the side: open where there is room for it, it marks what is being read. */
export function followReading(contents: HTMLDetailsElement) {
  const adapt = () => {
    contents.open = WIDE.matches
  }
  WIDE.addEventListener('change', adapt)
  adapt()
  const nav = contents.querySelector('nav') as HTMLElement
  nav.addEventListener('click', ({ target }) => {
    if (target instanceof Element && target.closest('a') && !WIDE.matches) contents.open = false
  })
  const parts = [...nav.querySelectorAll<HTMLAnchorElement>('a[href^="#"]')].flatMap((link) => {
    const part = document.getElementById(targetOf(link.hash))
    return part ? [{ link, part }] : []
  })
  let current: HTMLAnchorElement | undefined
  let opened: HTMLDetailsElement | undefined

  function mark() {
    waiting = false
    const now = parts.findLast(({ part }) => part.getBoundingClientRect().top < READ)?.link
    if (now === current) return
    if (current?.ariaCurrent === 'true') current.ariaCurrent = null
    current = now
    if (!now) return
    now.ariaCurrent ??= 'true'
    const group = now.closest<HTMLDetailsElement>('.group')
    if (opened !== group && opened) opened.open = false
    opened = group && (!group.open || opened === group) ? group : undefined
    if (group) group.open = true
    showIn(contents, now)
  }

  let waiting = false
  const wait = () => {
    if (!waiting) requestAnimationFrame(mark)
    waiting = true
  }
  addEventListener('scroll', wait, { passive: true })
  mark()
}

/** The id of what a link of the list leads to. */
export function targetOf(hash: string) {
  const [, tag, operation] = hash.split('/')
  if (tag === undefined) return decodeURIComponent(hash.slice(1))
  return operation ? `op-${operation}` : `tag-${tag}`
}

/** Moves the list alone: the page stays where it is. */
function showIn(list: HTMLElement, link: HTMLElement) {
  if (!WIDE.matches) return
  const [outer, inner] = [list.getBoundingClientRect(), link.getBoundingClientRect()]
  if (inner.top >= outer.top && inner.bottom <= outer.bottom) return
  list.scrollTop += inner.top - outer.top - outer.height / 2
}
