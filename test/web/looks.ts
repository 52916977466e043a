import type { Page } from 'playwright-core'

const SHOWN = [
  'header',
  'nav',
  'main',
  'section',
  'form',
  'fieldset',
  'h2',
  'h3',
  'input',
  'select',
  'textarea',
].join()

/**
 * How a page looks, as far as that is the same on all machines: the landmarks, headings and fields in their order, from
 * where to where across they reach, in CSS pixels, and their colours. What depends on a font, as heights and the widths of
 * buttons and links do, and what is drawn on a canvas is left out.
 */
export async function looksOf(page: Page): Promise<string> {
  const lines = await page.evaluate<string[]>(`
    [...document.querySelectorAll('${SHOWN}')]
      .filter((one) => one.checkVisibility() && !one.closest('.maplibregl-map, .unseen, header select'))
      .map((one) => {
        const { left, right } = one.getBoundingClientRect()
        const { color, backgroundColor, borderRadius } = getComputedStyle(one)
        let depth = 0
        for (let up = one.parentElement; up; up = up.parentElement) if (up.matches('${SHOWN}')) depth++
        const name = [one.localName, one.getAttribute('name') ?? one.getAttribute('type')].filter(Boolean).join(' ')
        return ' '.repeat(2 * depth) + [name, Math.round(left) + '..' + Math.round(right), color, backgroundColor,
          borderRadius].join(' | ')
      })`)
  return lines.join('\n')
}
