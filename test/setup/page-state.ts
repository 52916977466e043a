import type { Locator } from 'playwright-core'
import { expect } from 'vitest'

/** An element as the accessible tree of a page has it, by Playwright's `ariaSnapshotJSON`. */
interface Element {
  role: string
  name?: string
  text?: string
  url?: string
  level?: number
  checked?: boolean
  selected?: boolean
  disabled?: boolean
  invalid?: boolean | string
  children?: (Element | string)[]
}

/** The numbers of each row that has some, by the names of tables and rows. */
export type Figures = Record<string, Record<string, number[]>>

/**
 * Compares a part of a page, as those have it who cannot see it, with a file in `states` beside the test. Such a file is
 * renewed with whatever the page shows: all numbers of tables and lists must be those that the test has from the API.
 *
 * @param sentences of what is shown, those that the test makes of what the API answers
 */
export async function expectState(
  part: Locator,
  file: string,
  figures: Figures = {},
  sentences: string[] = [],
): Promise<void> {
  // What is still on its way is no state.
  await part.page().locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
  const tree = await treeOf(part)
  expectFiguresIn(tree, figures)
  const state = linesOf(tree).map(settled).join('\n')
  for (const sentence of sentences) expect(state).toContain(sentence)
  const folder = expect.getState().testPath?.replace(/[^/]+$/, 'states')
  await expect(`${state}\n`).toMatchFileSnapshot(`${folder}/${file}.txt`)
}

/**
 * Compares all numbers in tables and lists of a part of a page.
 *
 * @param figures those of the API, of which pages show the first digits, rounded. A table has its name, a list
 *   that of the heading above it. A row has its texts, in a list its place
 */
export async function expectFigures(part: Locator, figures: Figures): Promise<void> {
  expectFiguresIn(await treeOf(part), figures)
}

const expectFiguresIn = (tree: Element[], figures: Figures) =>
  expect(written(figuresIn(tree), figures)).toEqual(figures)

const treeOf = async (part: Locator) => (await part.ariaSnapshotJSON()) as unknown as Element[]

/** What a page shows of a mean at least. */
const LEAST_DIGITS = 2

/** Numbers as the API writes them, where they are shown with fewer digits. */
function written(shown: Figures, figures: Figures): Figures {
  const roundings = (value: number) =>
    Array.from({ length: 15 }, (_, more) => Number(value.toPrecision(more + LEAST_DIGITS)))
  const all = Object.entries(shown).map(([table, rows]) => {
    const entries = Object.entries(rows).map(([row, numbers]) => {
      const values = figures[table]?.[row] ?? []
      return [
        row,
        numbers.map((less, at) => (roundings(values[at] ?? NaN).includes(less) ? values[at] : less)),
      ]
    })
    return [table, Object.fromEntries(entries)]
  })
  return Object.fromEntries(all)
}

/** Without what differs between two runs: times of today, ids, keys, the browser, and where the service listens. */
function settled(line: string): string {
  return line
    .replaceAll(/https?:\/\/127\.0\.0\.1:\d+/g, '')
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID')
    .replaceAll(/\b[A-Z][a-z]+ \d{1,2}, 20\d\d(, \d{1,2}:\d\d\s[AP]M)?/g, 'NOW')
    .replaceAll(/\bcalls\.[0-9a-z]+@/g, 'calls.ID@')
    .replaceAll(/Mozilla\/.*?Safari\/[\d.]+/g, 'BROWSER')
}

/** The scale of a map, whose height depends on fonts. */
const SCALE = /^\d+ k?m$/

/** What stands in a line of text. */
const INLINE = /^(text|strong|emphasis|code|superscript|subscript)$/

/** A line of each element that has something to say, those within it below. */
function linesOf(elements: (Element | string)[], depth = 0): string[] {
  const lines: string[] = []
  const say = (text: string) => text.trim() && lines.push(' '.repeat(2 * depth) + text.trim())
  for (const [at, element] of elements.entries()) {
    const [before, after] = [elements[at - 1], elements[at + 1]]
    if (typeof element === 'string') {
      // The text of a label is the name of what it labels.
      if (nameOf(before) !== element && !SCALE.test(element))
        say(element.replace(new RegExp(`${escaped(nameOf(after))}$`), ''))
    } else if (element.role === 'table') {
      say(`table ${element.name ?? ''}`)
      lines.push(
        ...rowsOf(element).map((row) => `${' '.repeat(2 * depth + 2)}${cellsOf(row).join(' | ')}`.trimEnd()),
      )
    } else if (element.role === 'combobox') {
      const options = elementsIn(element).map(({ name, selected }) => (selected ? `[${name}]` : name))
      say(`${headOf(element)}: ${options.join(', ')}`)
    } else {
      const { name, text, children = [] } = element
      const isInline = children.every((child) => typeof child === 'string' || INLINE.test(child.role))
      const said = text ?? (isInline ? textOf(element) : '')
      if (name || said || !isInline) say(`${headOf(element)}${said && said !== name ? `: ${said}` : ''}`)
      if (!isInline) lines.push(...linesOf(children, depth + 1))
    }
  }
  return lines
}

function headOf({ role, level, name, url, checked, disabled, invalid }: Element): string {
  const flags = { checked, disabled, invalid }
  const set = Object.entries(flags).flatMap(([flag, value]) => (value ? [flag] : []))
  const kind = [...set, role, level].filter((word) => word !== undefined).join(' ')
  return `${kind}${name ? ` "${name}"` : ''}${url && !url.startsWith('data:') ? ` -> ${url}` : ''}`
}

/** The rows of a table, those with its columns' names among them. */
const rowsOf = (table: Element): Element[] =>
  elementsIn(table).flatMap((one) => (one.role === 'rowgroup' ? rowsOf(one) : one.role === 'row' ? one : []))

const cellsOf = (row: Element) => elementsIn(row).map(textOf)

const NUMBER = /(?<=^|[\s(])[-−]?\d[\d,]*(\.\d+)?(?=$|[\s)%,;]|\.(?!\d))/g
const numbersIn = (text: string) =>
  [...settled(text).matchAll(NUMBER)].map(([number]) => Number(number.replaceAll(',', '').replace('−', '-')))

function figuresIn(elements: Element[], figures: Figures = {}): Figures {
  let heading = ''
  const add = (table: string, row: string, cells: string[]) => {
    const numbers = cells.flatMap(numbersIn)
    if (numbers.length > 0) figures[table] = { ...figures[table], [row]: numbers }
  }
  for (const element of elements) {
    if (element.role === 'heading') heading = textOf(element)
    if (element.role === 'list')
      for (const [at, item] of elementsIn(element).entries()) add(heading, `${at + 1}`, [textOf(item)])
    if (element.role !== 'table') figuresIn(elementsIn(element), figures)
    else {
      let group: string[] = []
      for (const row of rowsOf(element)) {
        if (elementsIn(row).some(({ role }) => role === 'columnheader')) continue
        const [first = '', ...cells] = cellsOf(row)
        if (cells.length === 0) group = [first]
        const texts = cells.filter((cell) => cell !== '' && numbersIn(cell).length === 0)
        add(element.name ?? '', [...group, first, ...texts].join(', '), cells)
      }
    }
  }
  return figures
}

const elementsIn = ({ children = [] }: Element) => children.filter((child) => typeof child !== 'string')

function textOf({ name, text, children = [] }: Element): string {
  const within = children.map((child) => (typeof child === 'string' ? child : textOf(child)))
  return (text ?? name ?? within.join(' ').replaceAll(/ (?=[.:,])/g, '')).trim()
}

const nameOf = (element: Element | string | undefined) =>
  (typeof element === 'object' && element.name) || '\0'

const escaped = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')
