import type { HistoryFilter, HistoryRow } from './queries.ts'

/** A form of files that items of a history are written in. */
export interface ExportForm {
  opening: string
  /** Between two items. */
  separator: string
  /** @param next the cursor of the page that follows */
  closing(next: string | null): string
  /** The items as text, in their order. */
  textsOf(rows: HistoryRow[]): Promise<string[]>
}

/** So many items are turned into text at a time: their outlines are in memory together. */
const SLICE = 20

/** Pieces of a file: large enough to be worth sending, small enough to wait in memory for a slow client. */
const PIECE_LENGTH = 65_536

/**
 * The pages of a history, each read when the one before has been sent. Nothing that is added meanwhile is on
 * them, for it is newer.
 *
 * @param list finds a page
 */
export async function* pagesOf(
  list: (filter: HistoryFilter) => Promise<HistoryRow[]>,
  filter: Omit<HistoryFilter, 'after'>,
): AsyncGenerator<HistoryRow[]> {
  let after: HistoryFilter['after'] = null
  for (;;) {
    const rows = await list({ ...filter, after })
    yield rows
    const last = rows.at(-1)
    if (!last?.more) return
    after = { createdAt: last.created_us, id: last.id }
  }
}

/**
 * A file of items in pieces. It is written to its end or fails.
 *
 * @param next the cursor of the page that follows the last one
 */
export async function* writeExport(
  form: ExportForm,
  pages: AsyncIterable<HistoryRow[]> | HistoryRow[][],
  next: string | null,
): AsyncGenerator<string> {
  let text = form.opening
  let separator = ''
  for await (const rows of pages) {
    for (let from = 0; from < rows.length; from += SLICE) {
      for (const item of await form.textsOf(rows.slice(from, from + SLICE))) {
        text += separator + item
        separator = form.separator
        if (text.length < PIECE_LENGTH) continue
        yield text
        text = ''
      }
    }
  }
  yield text + form.closing(next)
}
