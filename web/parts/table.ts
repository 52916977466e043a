import { button, element } from '../shell/element.ts'
import { TEXTS } from '../texts/en.ts'
import { wideTable } from './blocks.ts'
import type { NumberText } from './values.ts'

/** As people sort: A2 before A10. */
const ORDER = new Intl.Collator('en', { numeric: true })

interface Wanted {
  caption: string
  columns: Column[]
  rows: Row[]
  rowsAPage?: number
  /** For columns without one. */
  numberText?: NumberText
}

type Cell = string | number | null | undefined

/** Numbers stand at the right, as `text` writes them. */
interface Column {
  title: string
  /** Names the row. */
  head?: boolean
  number?: boolean
  text?: NumberText
}

/** Columns of numbers, all written alike. */
export const numberColumns = (...titles: string[]): Column[] =>
  titles.map((title) => ({ title, number: true }))

interface Row {
  cells: Cell[]
  /** Makes the content of cells that do not show their value, of rows that are on the page. */
  shown?: () => (Node | string | undefined)[]
  /** A class of the row. */
  mark?: string
}

/** A table that is sorted by a press on a heading, a page at a time. */
export function tableOf({ caption, columns, rows, rowsAPage = 100, numberText = String }: Wanted) {
  const { sheet } = TEXTS
  const pages = Math.max(1, Math.ceil(rows.length / rowsAPage))
  let order = { column: -1, descending: false }
  let page = 0
  const body = element('tbody')
  const headings = columns.map(({ title, number }, place) =>
    element(
      'th',
      { scope: 'col', class: number && 'number' },
      button(title, () => sortBy(place), 'sort'),
    ),
  )
  const where = element('span', { role: 'status' })
  const turns = element(
    'div',
    { class: 'actions', hidden: pages === 1 },
    button(sheet.before, () => turn(-1)),
    where,
    button(sheet.next, () => turn(1)),
  )

  function sortBy(column: number) {
    order = { column, descending: order.column === column && !order.descending }
    for (const [place, heading] of headings.entries()) {
      if (place === column) heading.setAttribute('aria-sort', order.descending ? 'descending' : 'ascending')
      else heading.removeAttribute('aria-sort')
    }
    page = 0
    show()
  }

  function turn(step: number) {
    page = Math.min(pages - 1, Math.max(0, page + step))
    show()
  }

  function show() {
    const { column, descending } = order
    const sorted =
      column === -1 ? rows : [...rows].sort((a, b) => compare(a.cells[column], b.cells[column], descending))
    const some = sorted.slice(page * rowsAPage, (page + 1) * rowsAPage)
    const nothing = element('tr', {}, element('td', { colspan: columns.length }, sheet.none))
    body.replaceChildren(
      ...(rows.length === 0 ? [nothing] : some.map((row) => rowOf(row, columns, numberText))),
    )
    where.replaceChildren(pages === 1 ? '' : sheet.page(page + 1, pages))
  }

  show()
  return element(
    'div',
    { class: 'sheet' },
    wideTable(
      caption,
      element('caption', {}, caption),
      element('thead', {}, element('tr', {}, ...headings)),
      body,
    ),
    turns,
  )
}

function rowOf({ cells, shown, mark }: Row, columns: Column[], numberText: NumberText) {
  const contents = shown?.()
  const filled = cells.map((cell, place) => {
    const text = columns[place]?.text ?? numberText
    const content = contents?.[place] ?? (typeof cell === 'number' ? text(cell) : cell)
    const { head, number } = columns[place] ?? {}
    return element(head ? 'th' : 'td', { scope: head && 'row', class: number && 'number' }, content)
  })
  return element('tr', { class: mark }, ...filled)
}

/** Cells without a value come last in both orders. */
export function compare(a: Cell, b: Cell, descending: boolean) {
  const [noA, noB] = [(a ?? '') === '', (b ?? '') === '']
  if (noA || noB) return Number(noA) - Number(noB)
  const order = typeof a === 'number' && typeof b === 'number' ? a - b : ORDER.compare(String(a), String(b))
  return descending ? -order : order
}
