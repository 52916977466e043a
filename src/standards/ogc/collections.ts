import { SERVICE_NAME } from '#schemas/service.ts'
import { anchor, type Cell } from '#src/http/plain-page.ts'
import { VERSION } from '#src/lib/version.ts'
import { layersAddress } from '../published.ts'
import {
  type Api,
  addOperation,
  type Call,
  DOCUMENT_AND_PAGE,
  GEOJSON_TYPE,
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
import { PARAMETERS, type ParameterKey } from './parameters.ts'

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
  /** Links of the landing page beside those that all kinds have. */
  related(root: string): readonly Link[]
  list(call: Call): Promise<Iterable<Entry>>
  /** Members of the list beside its links and collections. */
  members?: object
  /** @throws {ApiError} NOT_FOUND for another id */
  one(call: Call, id: string): Promise<Entry>
  describe(root: string, entry: Entry): { id: string; title: string; description: string }
  /** Rows of the page of a collection. */
  facts(entry: Entry): Record<string, Cell>
  /** Links of a collection beside those to itself. */
  links(root: string, entry: Entry): readonly Link[]
}

export function addLanding<Entry>(api: Api, kind: CollectionApi<Entry>): void {
  const { base, name, description, conformance } = kind
  const landing = declareOperation(kind, 'landing', base || '/', 'landingPage')
  addOperation(api, { ...landing, isFixed: true }, ({ root }) => ({
    links: [
      jsonLink('service-desc', `${root}/api`, 'This API as OpenAPI 3.0', WHOLE_DOCUMENT_TYPE),
      jsonLink('service-doc', pageOf(`${root}/api`), 'This API as a page', HTML_TYPE),
      jsonLink('conformance', `${root}${base}/conformance`, 'The kept parts of the standards'),
      jsonLink('data', `${root}${base}/collections`, 'The collections'),
      ...kind.related(root),
    ],
    json: (links) => JSON.stringify({ title: SERVICE_NAME, description, links }),
    page: { title: name, above: [], text: description },
  }))
  const declared = declareOperation(kind, 'conformance', `${base}/conformance`, 'confClasses')
  addOperation(api, { ...declared, isFixed: true }, () => ({
    json: () => JSON.stringify({ conformsTo: conformance }),
    page: {
      title: 'Conformance',
      above: [[base, name]],
      columns: ['class'],
      rows: conformance.map((uri) => [anchor(uri, uri)]),
    },
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
    ...{ parameters: ['f'], formats: DOCUMENT_AND_PAGE, schema: '', isFixed: true },
  }
  addOperation(api, operation, ({ root }) => ({
    json: () => Buffer.from(JSON.stringify(writeDocument(root, api.operations))),
    page: {
      title: 'Paths',
      above: [['', name]],
      columns: ['path', 'answer', 'parameters'],
      rows: api.operations.map(({ path, summary, parameters }) => [path, summary, parameters.join(', ')]),
    },
  }))
}

/** The schemas of answers are those that the OGC publishes. */
const SCHEMAS =
  'https://schemas.opengis.net/ogcapi/features/part1/1.0/openapi/ogcapi-features-1.yaml#/components/schemas'

const text = { type: 'string' }
const error = {
  type: 'object',
  required: ['error', 'code'],
  properties: { error: text, code: text, request_id: text },
}

/** The schema of a media type; `object` where standards of their own describe it. */
function schemaFor(type: string, { schema }: Operation): object {
  if (type === HTML_TYPE) return text
  return type === JSON_AND_PAGE.json || type === GEOJSON_TYPE
    ? { $ref: `${SCHEMAS}/${schema}` }
    : { type: 'object' }
}

function describeOperation(operation: Operation) {
  const { id, summary, tag, parameters, formats } = operation
  const types = Object.values(formats)
  return {
    operationId: id,
    summary,
    tags: [tag],
    parameters: parameters.map((name) => ({ $ref: `#/components/parameters/${name}` })),
    responses: {
      200: {
        description: summary,
        content: Object.fromEntries(types.map((type) => [type, { schema: schemaFor(type, operation) }])),
      },
      304: { description: 'The answer is the one that `If-None-Match` names.' },
      default: {
        description: 'An error.',
        content: { [JSON_AND_PAGE.json]: { schema: error } },
      },
    },
  }
}

/** The OpenAPI 3.0 document of the API: its clients read no later version. */
function writeDocument(root: string, operations: readonly Operation[]) {
  return {
    openapi: '3.0.3',
    info: {
      title: `${SERVICE_NAME}: OGC API`,
      version: VERSION,
      description:
        'Administrative areas and what releases come to in them as features (OGC API Features), and releases at points and in polygons (OGC API EDR). All of it is open to all.',
      license: { name: 'Apache-2.0' },
    },
    servers: [{ url: root }],
    tags: [
      { name: 'Capabilities', description: 'What there is.' },
      { name: 'Data', description: 'Features.' },
      { name: 'EDR', description: 'Values.' },
    ],
    paths: Object.fromEntries(
      operations.map((operation) => [operation.path, { get: describeOperation(operation) }]),
    ),
    components: { parameters: PARAMETERS },
  }
}

/** Collections that are written without letting others go on. */
const COLLECTIONS_A_SLICE = 20

export function addCollections<Entry>(api: Api, kind: CollectionApi<Entry>): void {
  const { base, name, members } = kind
  const path = `${base}/collections`
  const above = [base, name] as const
  const addressOf = (root: string, id: string) => `${root}${path}/${id}`

  addOperation(api, declareOperation(kind, 'list', path, 'collections'), async (call) => {
    const { root, isHtml, pause } = call
    const rows: Cell[][] = []
    const texts: string[] = []
    for (const entry of await kind.list(call)) {
      if ((rows.length + texts.length) % COLLECTIONS_A_SLICE === 0) await pause()
      const described = kind.describe(root, entry)
      const { id, title } = described
      if (isHtml) rows.push([anchor(pageOf(addressOf(root, id)), id), title])
      else {
        const self = jsonLink('self', withQuery(addressOf(root, id), { f: 'json' }), title)
        texts.push(JSON.stringify({ ...described, links: [self, ...kind.links(root, entry)] }))
      }
    }
    return {
      json(links) {
        const start = JSON.stringify({ links, ...members }).slice(0, -1)
        return `${start},"collections":[${texts.join()}]}`
      },
      page: { title: 'Collections', above: [above], columns: ['id', 'title'], rows },
    }
  })

  const one = declareOperation(kind, 'one', `${path}/{${kind.idParameter}}`, 'collection')
  addOperation(api, one, async (call) => {
    const entry = await kind.one(call, call.part('collection'))
    const described = kind.describe(call.root, entry)
    return {
      links: kind.links(call.root, entry),
      json: (links) => JSON.stringify({ ...described, links }),
      page: {
        title: described.title,
        above: [above, [path, 'Collections']],
        text: described.description,
        columns: ['property', 'value'],
        rows: Object.entries({ id: described.id, ...kind.facts(entry) }),
      },
    }
  })
}

/** A link to the maps of a release: a list of tilesets with their legends. */
export function mapsLink(root: string, release: string): Link {
  const address = layersAddress(root.slice(0, -OGC_PATH.length), release)
  return jsonLink('related', address, 'Its layers as maps: TileJSON of PNG tiles, with legends')
}
