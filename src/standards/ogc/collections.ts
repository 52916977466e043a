import { SERVICE_NAME } from '#schemas/service.ts'
import { anchor, type Html, list, paragraph, renderCells } from '#src/http/plain-page.ts'
import { layersAddress } from '../published.ts'
import {
  type Api,
  addList,
  addOperation,
  type Call,
  type CollectionList,
  DOCUMENT_AND_PAGE,
  HTML_TYPE,
  JSON_AND_PAGE,
  jsonLink,
  type Link,
  OGC_PATH,
  type Operation,
  pageOf,
  WHOLE_DOCUMENT_TYPE,
  withQuery,
} from './api.ts'
import { writeDocument } from './document.ts'
import type { ParameterKey } from './parameters.ts'

/** A collection as all descriptions have it. */
interface Described {
  id: string
  title: string
}

/** A declared kind of collections: its landing page, conformance, list and descriptions come from it. */
export interface CollectionApi<Entry> extends Omit<CollectionList<Entry>, 'body' | 'above'> {
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
  /** @throws {ApiError} NOT_FOUND for another id */
  one(call: Call, id: string): Promise<Entry>
  describe(root: string, entry: Entry): Described
  /** Changes with the description. */
  version(entry: Entry): string
  /** Links of a collection beside those to itself. */
  links(root: string, entry: Entry): readonly Link[]
  /** The page of a collection. */
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

/** Adds the list of the collections of a kind, and the description of each. */
export function addCollections<Entry>(api: Api, kind: CollectionApi<Entry>): void {
  const { base, name, title } = kind
  const path = `${base}/collections`
  addList(api, declareOperation(kind, 'list', path, 'Collections'), {
    ...kind,
    above: [base, name],
    body(root, entry) {
      const described = kind.describe(root, entry)
      const self = withQuery(`${root}${path}/${described.id}`, { f: 'json' })
      return { ...described, links: [jsonLink('self', self, described.title), ...kind.links(root, entry)] }
    },
  })
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

/** A link to the maps of a release: a list of tilesets with their legends. */
export function mapsLink(root: string, release: string): Link {
  const address = layersAddress(root.slice(0, -OGC_PATH.length), release)
  return jsonLink('related', address, 'Its layers as maps: TileJSON of PNG tiles, with legends')
}
