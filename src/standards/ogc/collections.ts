import { createHash } from 'node:crypto'
import { SERVICE_NAME } from '#schemas/service.ts'
import {
  anchor,
  type Cell,
  type Html,
  list,
  pageText,
  paragraph,
  renderCells,
  renderRow,
  renderTable,
} from '#src/http/plain-page.ts'
import { Cache } from '#src/lib/cache.ts'
import { layersAddress } from '../published.ts'
import {
  type Api,
  addOperation,
  type Call,
  DOCUMENT_AND_PAGE,
  HTML_TYPE,
  JSON_AND_PAGE,
  jsonLink,
  type Link,
  linksToSelf,
  OGC_PATH,
  type Operation,
  pageOf,
  WHOLE_DOCUMENT_TYPE,
  withQuery,
} from './api.ts'
import { writeDocument } from './document.ts'
import type { ParameterKey } from './parameters.ts'

/** A declared kind of collections: its landing page, conformance, list and descriptions come from it. */
export interface CollectionApi<Entry> {
  /** The paths of the kind begin with it. */
  base: '' | '/edr'
  name: string
  description: string
  conformance: readonly string[]
  tag: 'Capabilities' | 'EDR'
  operations: Record<'landing' | 'conformance' | 'list' | 'one', readonly [id: string, summary: string]>
  /** The parameter with the id of a collection. */
  idParameter: ParameterKey
  titles: { document: string; conformance: string }
  /** Links of the landing page beside those that all kinds have. */
  related(root: string): readonly Link[]
  title: string
  /** The same array as long as nothing has changed. */
  find(call: Call): Promise<readonly Entry[]>
  /** Members of the list beside its links and collections. */
  members?: object
  columns: readonly string[]
  /** The row of an entry in the table of the page. */
  cells(root: string, entry: Entry): readonly Cell[]
  /** @throws {ApiError} NOT_FOUND for another id */
  one(call: Call, id: string): Promise<Entry>
  describe(root: string, entry: Entry): { id: string; title: string }
  /** Changes with the description. */
  version(entry: Entry): string
  /** Links of a collection beside those to itself. */
  links(root: string, entry: Entry): readonly Link[]
  parts(entry: Entry): readonly Html[]
}

export function addLanding<Entry>(api: Api, kind: CollectionApi<Entry>): void {
  const { base, name, description, conformance, titles } = kind
  addOperation(api, declareOperation(kind, 'landing', base || '/', 'LandingPage'), ({ root }) => ({
    version: '',
    make: () => ({
      links: [
        jsonLink('service-desc', `${root}/api`, 'This API as OpenAPI 3.0', WHOLE_DOCUMENT_TYPE),
        jsonLink('service-doc', pageOf(`${root}/api`), titles.document, HTML_TYPE),
        jsonLink('conformance', `${root}${base}/conformance`, titles.conformance),
        jsonLink('data', `${root}${base}/collections`, 'The collections'),
        ...kind.related(root),
      ],
      json: (links) => JSON.stringify({ title: SERVICE_NAME, description, links }),
      page: { title: name, above: [], parts: [paragraph(description)] },
    }),
  }))
  addOperation(api, declareOperation(kind, 'conformance', `${base}/conformance`, 'ConfClasses'), () => ({
    version: '',
    make: () => ({
      json: () => JSON.stringify({ conformsTo: conformance }),
      page: {
        title: 'Conformance',
        above: [[base, name]],
        parts: [list(conformance.map((uri) => anchor(uri, uri)))],
      },
    }),
  }))
}

function declareOperation<Entry>(
  { operations, tag, idParameter }: CollectionApi<Entry>,
  key: keyof CollectionApi<Entry>['operations'],
  path: string,
  schema: string,
): Operation {
  const [id, summary] = operations[key]
  const parameters: readonly ParameterKey[] = key === 'one' ? [idParameter, 'f'] : ['f']
  return { path, id, summary, tag, parameters, formats: JSON_AND_PAGE, schema }
}

/** Adds the OpenAPI document of all operations, which are no part of the other one: clients read OpenAPI 3.0 alone. */
export function addDocument(api: Api, name: string): void {
  const operation: Operation = {
    ...{ path: '/api', id: 'getApi', summary: 'This document', tag: 'Capabilities' },
    ...{ parameters: ['f'], formats: DOCUMENT_AND_PAGE, schema: '' },
  }
  addOperation(api, operation, ({ root }) => ({
    version: '',
    make: () => ({
      json: () => Buffer.from(JSON.stringify(writeDocument(root, api.operations))),
      page: {
        title: 'Paths',
        above: [['', name]],
        parts: [
          renderCells(
            ['path', 'what it answers', 'parameters'],
            api.operations.map(({ path, summary, parameters }) => [path, summary, parameters.join(', ')]),
          ),
        ],
      },
    }),
  }))
}

export function addCollections<Entry>(api: Api, kind: CollectionApi<Entry>): void {
  const { base, name, title } = kind
  const path = `${base}/collections`
  addList(api, kind, path)
  const one = declareOperation(kind, 'one', `${path}/{${kind.idParameter}}`, 'Collection')
  addOperation(api, one, async (call) => {
    const entry = await kind.one(call, call.part('collection'))
    const described = kind.describe(call.root, entry)
    return {
      version: kind.version(entry),
      make: () => ({
        links: kind.links(call.root, entry),
        json: (links) => JSON.stringify({ ...described, links }),
        page: {
          title: described.title,
          above: [
            [base, name],
            [path, title],
          ],
          parts: kind.parts(entry),
        },
      }),
    }
  })
}

/** Collections that are written without letting others go on. */
const COLLECTIONS_A_SLICE = 20

/** 5,000 releases take 18 million characters. */
const LISTS_BYTES = 24 * 2 ** 20

interface ListText {
  entries: readonly unknown[]
  text: string
  /** Changes with its content. */
  version: string
}

/** Adds the list of the collections of a kind: the text is made in slices, once for each address of the service and format. */
function addList<Entry>(api: Api, kind: CollectionApi<Entry>, path: string): void {
  const operation = declareOperation(kind, 'list', path, 'Collections')
  const texts = new Cache<string, ListText>('lists of collections', {
    maxSize: LISTS_BYTES,
    sizeOf: ({ text }) => text.length,
  })
  addOperation(api, operation, async (call) => {
    const entries = await kind.find(call)
    const key = `${call.type} ${call.root}`
    const stored = texts.get(key)
    const found = stored?.entries === entries ? stored : await writeList(kind, entries, call, operation)
    if (found !== stored) texts.set(key, found)
    return { version: found.version, make: () => ({ text: found.text }) }
  })
}

async function writeList<Entry>(
  kind: CollectionApi<Entry>,
  entries: readonly Entry[],
  call: Call,
  { path, formats }: Operation,
): Promise<ListText> {
  const { base, name, title, columns, members } = kind
  const { root, isHtml, pause } = call
  const pieces: string[] = []
  const hash = createHash('sha256')
  for (const entry of entries) {
    if (pieces.length % COLLECTIONS_A_SLICE === 0) await pause()
    const piece = isHtml ? renderRow(kind.cells(root, entry)).html : writeEntry(kind, entry, root, path)
    pieces.push(piece)
    hash.update(piece)
  }
  const version = hash.digest('base64url')
  const links = linksToSelf({ ...call, query: {} }, formats)
  if (isHtml) {
    const rows = pieces.map((html) => ({ html }))
    const above = [{ href: pageOf(root + base), rel: 'up', title: name }]
    return { entries, text: pageText({ title, above, parts: [renderTable(columns, rows)], links }), version }
  }
  const start = JSON.stringify({ links, ...members }).slice(0, -1)
  return { entries, text: `${start},"collections":[${pieces.join()}]}`, version }
}

function writeEntry<Entry>(kind: CollectionApi<Entry>, entry: Entry, root: string, path: string): string {
  const described = kind.describe(root, entry)
  const self = withQuery(`${root}${path}/${described.id}`, { f: 'json' })
  const links = [jsonLink('self', self, described.title), ...kind.links(root, entry)]
  return JSON.stringify({ ...described, links })
}

/** A link to the maps of a release: a list of tilesets with their legends. */
export function mapsLink(root: string, release: string): Link {
  const address = layersAddress(root.slice(0, -OGC_PATH.length), release)
  return jsonLink('related', address, 'Its layers as maps: TileJSON of PNG tiles, with legends')
}
