import type { Page } from 'playwright-core'
import { seriousFindings } from './pages.ts'

const SHOWN = 'header,nav,main,section,form,fieldset,h2,h3,input,select,textarea'

/**
 * How a page looks, as far as that is the same on all machines: the landmarks, headings and fields in their order, what they
 * are called, whether each stands below the one before or beside it, from where to where across they reach, in CSS pixels,
 * and their colours. What depends on a font, as heights and the widths of buttons and links do, and what is drawn on a
 * canvas is left out.
 */
export async function looksOf(page: Page): Promise<string> {
  const lines = await page.evaluate<string[]>(`{
    const shown = [...document.querySelectorAll('${SHOWN}')]
      .filter((one) => one.checkVisibility() && !one.closest('.maplibregl-map, .unseen, header select'))
    shown.map((one, at) => {
      const { left, right, top } = one.getBoundingClientRect()
      const { color, backgroundColor, borderRadius } = getComputedStyle(one)
      let depth = 0
      for (let up = one.parentElement; up; up = up.parentElement) if (up.matches('${SHOWN}')) depth++
      const kind = [one.localName, one.getAttribute('name') ?? one.getAttribute('type')].filter(Boolean).join(' ')
      const called = /^h\\d$/.test(one.localName) ? one.textContent : one.labels?.[0]?.firstChild?.textContent
      const before = shown.slice(0, at).findLast((other) => !other.contains(one))
      const place = before && (top >= before.getBoundingClientRect().bottom - 1 ? 'below' : 'beside')
      return ' '.repeat(2 * depth) + [called ? kind + ' "' + called.trim() + '"' : kind, place ?? 'first',
        Math.round(left) + '..' + Math.round(right), color, backgroundColor, borderRadius].join(' | ')
    })
  }`)
  return lines.join('\n')
}

/**
 * What nobody wants to see on any page: that it is wider than the window, controls that lie on each other, that reach out of the window, or are too small for a
 * finger (24 CSS pixels, WCAG 2.2, 2.5.8; links in a text are not), and texts that are cut off.
 */
export async function faultsOf(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`{
    const visible = (one) => one.checkVisibility({ visibilityProperty: true }) && !one.closest('.maplibregl-map, .unseen')
    const nameOf = (one) => [one.localName, one.getAttribute('name') ?? one.className ?? '',
      JSON.stringify((one.textContent ?? '').trim().slice(0, 30))].join(' ')
    const controls = [...document.querySelectorAll('a, button, input, select, textarea, summary')]
      .filter((one) => visible(one) && !one.matches('.skip'))
    // What can be scrolled to is no fault.
    const reached = controls.filter((one) => !one.closest('.scroll, nav'))
    const boxes = controls.map((one) => [one, one.getBoundingClientRect()])
    const onEachOther = boxes.flatMap(([one, a], at) => boxes.slice(at + 1)
      .filter(([other, b]) => !one.contains(other) && !other.contains(one) && !one.closest('.scroll') && !other.closest('.scroll')
        && Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2
        && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2)
      .map(([other]) => nameOf(one) + ' and ' + nameOf(other) + ' lie on each other'))
    const outside = reached.filter((one) => {
      const { left, right } = one.getBoundingClientRect()
      return left < -1 || right > innerWidth + 1
    }).map((one) => nameOf(one) + ' reaches out of the window')
    const small = boxes
      .filter(([one, { width, height }]) => Math.min(width, height) < 23.5 && !(one.localName === 'a' && one.closest('p, li, dd'))
        && !(one.localName === 'input' && one.closest('label')))
      .map(([one]) => nameOf(one) + ' is too small')
    const cut = [...document.querySelectorAll('body *')]
      .filter((one) => visible(one) && one.childElementCount === 0 && one.scrollWidth > one.clientWidth + 1
        && ['hidden', 'clip'].includes(getComputedStyle(one).overflowX))
      .map((one) => nameOf(one) + ' is cut off')
    const wide = document.documentElement.scrollWidth > innerWidth ? ['the page is wider than the window'] : [];
    [...wide, ...onEachOther, ...outside, ...small, ...cut]
  }`)
}

/** All that is wrong with a page as it stands: what axe finds in light, contrasts in dark as well, and its layout. */
export async function allFaultsOf(page: Page): Promise<string[]> {
  await page.emulateMedia({ colorScheme: 'light' })
  const findings = [...(await seriousFindings(page)), ...(await faultsOf(page))]
  await page.emulateMedia({ colorScheme: 'dark' })
  return [...findings, ...(await seriousFindings(page, { runOnly: ['color-contrast'] }))]
}
