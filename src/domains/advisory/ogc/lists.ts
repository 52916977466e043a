import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { App } from '#src/http/app.ts'
import { untilGone } from '#src/http/deadline.ts'
import { partyOf } from '#src/http/party.ts'
import { type Cell, pageText, rowOf, sendPageText, tableOf } from '#src/http/plain-page.ts'
import type { Pause } from '#src/lib/turns.ts'
import {
  type Form,
  formOf,
  isCached,
  JSON_TYPE,
  type Link,
  openRoute,
  rootOf,
  selfLinks,
  withQuery,
} from './answers.ts'
import { parametersOf } from './parameters.ts'

/** Of each list, the texts that are kept in memory, in characters: one a form and address. 5,000 releases take 18 million. */
const CHARACTERS_KEPT = 20_000_000

/** Collections that are put together without letting others go on. */
const COLLECTIONS_A_SLICE = 20

/** All collections of a kind, as JSON and as a page. */
export interface CollectionList<Entry> {
  title: string
  /** The page above it, by its address below that of the OGC API. */
  above: { path: string; title: string }
  /** All of the JSON but its links and collections. */
  members?: object
  /** What an entry has in the JSON: most often one collection. */
  bodiesOf(root: string, entry: Entry): object[]
  columns: readonly string[]
  /** What an entry has in the table of the page. */
  rowsOf(root: string, entry: Entry): Cell[][]
}

/** A list as it is sent. */
interface SentList {
  text: string
  /** Changes with what it says. */
  version: string
}

/**
 * A path that answers with all collections of a kind, which may be thousands: the text is made in slices, and once for
 * all who reach the service at one address.
 *
 * @param find the same array as long as nothing has changed
 */
export function listRoute<Entry>(
  app: App,
  path: string,
  find: (request: FastifyRequest, reply: FastifyReply) => Promise<readonly Entry[]>,
  list: CollectionList<Entry>,
): void {
  const kept = createKept()
  app.get(path, openRoute(), async (request, reply) => {
    const query = parametersOf(request, ['f'])
    const form = formOf(request, reply, query.f, [JSON_TYPE])
    const entries = await find(request, reply)
    const root = rootOf(request)
    const key = `${form.type} ${root}`
    let sent = kept.get(entries, key)
    if (!sent) {
      const gone = untilGone(reply)
      const pause = () => app.turns.next(partyOf(request), gone)
      sent = await listOf(list, entries, { root, path, form, pause })
      kept.set(entries, key, sent)
    }
    if (isCached(request, reply, form, sent.version)) return reply.code(304).send()
    return form.isHtml ? sendPageText(reply, sent.text) : reply.type(form.type).send(sent.text)
  })
}

/** How a list is written. */
interface Writing {
  root: string
  path: string
  form: Form
  pause: Pause
}

async function listOf<Entry>(
  list: CollectionList<Entry>,
  entries: readonly Entry[],
  { root, path, form, pause }: Writing,
): Promise<SentList> {
  const { title, above, members, columns } = list
  const piecesOf = (entry: Entry) =>
    form.isHtml
      ? list.rowsOf(root, entry).map((cells) => rowOf(cells).html)
      : list.bodiesOf(root, entry).map((body) => JSON.stringify(body))
  const pieces: string[] = []
  const hash = createHash('sha256')
  for (const entry of entries) {
    for (const piece of piecesOf(entry)) {
      if (pieces.length % COLLECTIONS_A_SLICE === 0) await pause()
      pieces.push(piece)
      hash.update(piece)
    }
  }
  const version = hash.digest('base64url')
  const links = selfLinks(root + path, {}, form, JSON_TYPE)
  if (form.isHtml) {
    const parts = [
      tableOf(
        columns,
        pieces.map((html) => ({ html })),
      ),
    ]
    const top: Link = { href: withQuery(root + above.path, { f: 'html' }), rel: 'root', title: above.title }
    return { text: pageText({ title, above: [top], parts, links }), version }
  }
  const start = JSON.stringify({ links, ...members }).slice(0, -1)
  return { text: `${start},"collections":[${pieces.join()}]}`, version }
}

/** Keeps the texts of a list as it is now. */
function createKept() {
  let of: readonly unknown[] | undefined
  const kept = new LRUCache<string, SentList>({
    maxSize: CHARACTERS_KEPT,
    sizeCalculation: ({ text }, key) => text.length + key.length,
  })
  return {
    get: (entries: readonly unknown[], key: string) => (of === entries ? kept.get(key) : undefined),
    set(entries: readonly unknown[], key: string, list: SentList): void {
      if (of !== entries) kept.clear()
      of = entries
      kept.set(key, list)
    },
  }
}
