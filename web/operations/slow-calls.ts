import { loaded, section, timeText } from '../parts/blocks.ts'
import { tableOf } from '../parts/table.ts'
import { element } from '../shell/element.ts'
import { TEXTS } from '../texts/en.ts'
import { wholeText } from '../texts/names.ts'

/**
 * @typedef {object} SlowCall
 * @property {number} milliseconds
 * @property {string} operation
 * @property {number} status
 * @property {string | null} code
 * @property {string} ended_at
 * @property {string} request_id
 */

const { slowCalls } = TEXTS

/**
 * The slowest calls lately, one by one.
 *
 * @param {import('../account/session.ts').Session} session
 * @param {AbortSignal} left
 */
export function slowCallsSection(session, left) {
  return section(
    slowCalls.title,
    loaded(async () => {
      /** @type {{ since: string, items: SlowCall[] }} */
      const { since, items } = await session.get('stats/calls', {}, { signal: left })
      return element('div', {}, element('p', {}, slowCalls.why(timeText(since))), tableOfCalls(items))
    }),
  )
}

/** @param {SlowCall[]} items */
function tableOfCalls(items) {
  const numbers = [slowCalls.columns.milliseconds, slowCalls.columns.status]
  return tableOf({
    caption: slowCalls.caption,
    columns: Object.values(slowCalls.columns).map((title) => ({ title, number: numbers.includes(title) })),
    rows: items.map(({ milliseconds, operation, status, code, ended_at, request_id }) => ({
      cells: [milliseconds, operation, status, code, ended_at, request_id],
      shown: [
        undefined,
        undefined,
        String(status),
        undefined,
        timeText(ended_at),
        element('code', {}, request_id),
      ],
      mark: status >= 500 ? 'wrong' : '',
    })),
    rowsAPage: 25,
    numberText: wholeText,
  })
}
