import type { SlowCallsAnswer } from '#schemas/stats.ts'
import type { Session } from '../account/session.ts'
import { loaded, section, timeText } from '../parts/blocks.ts'
import { tableOf } from '../parts/table.ts'
import { element } from '../shell/element.ts'
import { TEXTS } from '../texts/en.ts'
import { wholeText } from '../texts/names.ts'

const { slowCalls } = TEXTS

/** The slowest calls lately, one by one. */
export function slowCallsSection(session: Session, left: AbortSignal) {
  return section(
    slowCalls.title,
    loaded(async () => {
      const { since, items } = await session.get<SlowCallsAnswer>('stats/calls', {}, { signal: left })
      return element('div', {}, element('p', {}, slowCalls.why(timeText(since))), tableOfCalls(items))
    }),
  )
}

function tableOfCalls(items: SlowCallsAnswer['items']) {
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
