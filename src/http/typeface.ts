import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

const figtree = (subset: string) =>
  require.resolve(`@fontsource-variable/figtree/files/figtree-${subset}-wght-normal.woff2`)

/** Files that each page needs, by their names among those of pages: all weights of text, and headings. */
const FIRST_FONTS = [
  ['lib/fonts/text.woff2', figtree('latin')],
  [
    'lib/fonts/heading.woff2',
    require.resolve('@fontsource/young-serif/files/young-serif-latin-400-normal.woff2'),
  ],
] as const

/** The typeface. */
export const FONTS = [...FIRST_FONTS, ['lib/fonts/text-ext.woff2', figtree('latin-ext')] as const]

/**
 * Links to styles, and to the typeface, which is loaded beside them.
 *
 * @param addressOf makes the address of a file of the pages of its name
 */
export function linkStyles(styles: readonly string[], addressOf: (name: string) => string): string {
  const fonts = FIRST_FONTS.map(
    ([name]) => `  <link rel="preload" as="font" type="font/woff2" href="${addressOf(name)}" crossorigin>\n`,
  )
  return [...fonts, ...styles.map((name) => `  <link rel="stylesheet" href="${addressOf(name)}">\n`)].join('')
}
