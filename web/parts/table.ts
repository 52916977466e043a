import { element } from '../shell/element.ts'
import { TEXTS } from '../texts/en.ts'

/** As people sort: A2 before A10. */
const ORDER = new Intl.Collator('en', { numeric: true })

/** @typedef {string | number | null | undefined} Cell */
/** @typedef {(value: number) => string} NumberText */
/** @typedef {{ title: string, number?: boolean, text?: NumberText }} Column numbers stand at the right, as `text` writes them */

/**
 * @typedef {object} Row
 * @property {Cell[]} cells
 * @property {(Node | string | undefined)[]} [shown] what stands in the cells, where it is not their value
 * @property {string} [mark] a class of the row
 */

/**
 * A table that is sorted by a press on a heading, a page at a time.
 *
 * @param {object} wanted
 * @param {string} wanted.caption
 * @param {Column[]} wanted.columns
 * @param {Row[]} wanted.rows
 * @param {number} [wanted.rowsAPage]
 * @param {NumberText} [wanted.numberText] for columns without one
 */
export function tableOf({ caption, columns, rows, rowsAPage = 100, numberText = String }) {
  const { sheet } = TEXTS
  const pages = Math.max(1, Math.ceil(rows.length / rowsAPage))
  let order = { column: -1, descending: false }
  let page = 0
  const body = element('tbody')
  const headings = columns.map(({ title, number }, place) =>
    element(
      'th',
      { scope: 'col', class: number && 'number' },
      element('button', { type: 'button', class: 'sort', onclick: () => sortBy(place) }, title),
    ),
  )
  const where = element('span', { role: 'status' })
  const turns = element(
    'div',
    { class: 'actions', hidden: pages === 1 },
    element('button', { type: 'button', class: 'quiet', onclick: () => turn(-1) }, sheet.before),
    where,
    element('button', { type: 'button', class: 'quiet', onclick: () => turn(1) }, sheet.next),
  )

  /** @param {number} column */
  function sortBy(column) {
    order = { column, descending: order.column === column && !order.descending }
    for (const [place, heading] of headings.entries()) {
      if (place === column) heading.setAttribute('aria-sort', order.descending ? 'descending' : 'ascending')
      else heading.removeAttribute('aria-sort')
    }
    page = 0
    show()
  }

  /** @param {number} step */
  function turn(step) {
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
    element(
      'div',
      { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption },
      element(
        'table',
        {},
        element('caption', {}, caption),
        element('thead', {}, element('tr', {}, ...headings)),
        body,
      ),
    ),
    turns,
  )
}

/** @param {Row} row @param {Column[]} columns @param {NumberText} numberText */
function rowOf({ cells, shown, mark }, columns, numberText) {
  const filled = cells.map((cell, place) => {
    const text = columns[place]?.text ?? numberText
    const content = shown?.[place] ?? (typeof cell === 'number' ? text(cell) : cell)
    return element('td', { class: columns[place]?.number && 'number' }, content)
  })
  return element('tr', { class: mark }, ...filled)
}

/**
 * What has no value comes last, whichever way it is sorted.
 *
 * @param {Cell} a
 * @param {Cell} b
 * @param {boolean} descending
 */
export function compare(a, b, descending) {
  const [noA, noB] = [(a ?? '') === '', (b ?? '') === '']
  if (noA || noB) return Number(noA) - Number(noB)
  const order = typeof a === 'number' && typeof b === 'number' ? a - b : ORDER.compare(String(a), String(b))
  return descending ? -order : order
}
