import type { OpenAPIV3_1 } from 'openapi-types'
import { isCollection, type Node, visit as walk, Document as YamlDocument } from 'yaml'
import { COUNTRY_CODES, COUNTRY_NAMES, DOCUMENTED_AS, EXAMPLE_REQUEST_ID } from '#schemas/common.ts'
import type { App } from '../app.ts'
import { withStandardFormat } from '../parameters.ts'
import { ROUTE_FACTS, withOperations } from './operations.ts'
import {
  type Components,
  type ExampleSchema,
  isRef,
  listSlots,
  makeExample,
  type Part,
  Repeats,
  refTo,
  type Slot,
} from './repeats.ts'

interface Operation extends Part {
  operationId: string
  parameters?: Part[]
  responses: Record<string, Part>
}

/** A shorter schema stays, since a reference would be as long. */
const SHORTEST_SCHEMA = 60

/** Moves repeated parameters, headers and members of schemas into `components`. */
function shareComponents(document: OpenAPIV3_1.Document): OpenAPIV3_1.Document {
  const { headers = {}, parameters = {}, responses = {}, schemas = {} } = document.components ?? {}
  const operations = Object.values(document.paths ?? {}).flatMap(
    (path) => Object.values(path ?? {}) as unknown as Operation[],
  )
  const ofOperations = operations.map((operation): [string, Part] => [operation.operationId, operation])

  share('headers', [...headersIn(operations), ...Object.entries(responses).flatMap(listHeaders)], headers)
  share('parameters', operations.flatMap(listParameterSlots), parameters)
  const roots = [...Object.entries(schemas), ...Object.entries(parameters), ...ofOperations]
  const members = roots.flatMap(([name, root]) => [...membersIn(root as Part, name)])
  const long = members.filter(({ value }) => JSON.stringify(value).length >= SHORTEST_SCHEMA)
  share('schemas', long, schemas)
  for (const schema of Object.values(schemas)) leaveOutExamples(schema as Part)
  return document
}

/** Members of many requests, to which their schemas refer by `allOf`. */
const GROUP = 'QuantityParameters'

function withGroup(document: OpenAPIV3_1.Document): OpenAPIV3_1.Document {
  const schemas = (document.components?.schemas ?? {}) as Record<string, Part | undefined>
  const members = Object.entries((schemas[GROUP]?.properties ?? {}) as Part)
  if (members.length === 0) return document
  return JSON.parse(JSON.stringify(document), (_key, value) =>
    value?.type === 'object' && hasMore(value.properties ?? {}, members) ? grouped(value, members) : value,
  )
}

function hasMore(properties: Part, members: [string, unknown][]): boolean {
  if (Object.keys(properties).length === members.length) return false
  return members.every(([name, member]) => JSON.stringify(properties[name]) === JSON.stringify(member))
}

function grouped({ description, examples, properties, ...schema }: Part, members: [string, unknown][]): Part {
  const own = { ...(properties as Part) }
  for (const [member] of members) delete own[member]
  return {
    ...(description !== undefined && { description }),
    allOf: [{ ...schema, properties: own }, refTo('schemas', GROUP)],
    ...(examples !== undefined && { examples }),
  }
}

function share(kind: string, slots: Slot[], components: Part): void {
  const repeats = new Repeats()
  for (const slot of slots) if (!isRef(slot.value)) repeats.add(slot)
  for (const { name, value, slots } of repeats.named(components)) {
    components[name] = value
    for (const { owner, key } of slots) owner[key] = refTo(kind, name)
  }
}

function headersIn(operations: Operation[]): Slot[] {
  return operations.flatMap(({ operationId, responses }) =>
    Object.values(responses).flatMap((response) => listHeaders([operationId, response])),
  )
}

function listHeaders([within, { headers = {} }]: [string, object & { headers?: object }]): Slot[] {
  return listSlots(headers as Part, within)
}

function listParameterSlots({ operationId, parameters = [] }: Operation): Slot[] {
  const slots = listSlots(parameters as unknown as Part, operationId)
  return slots.map((slot) => ({ ...slot, name: String(slot.value.name) }))
}

/** The outer members first; `ofObject`: the keys of the part are members of the API. */
function* membersIn(part: Part, within: string, ofObject = false): Generator<Slot> {
  if (ofObject) yield* listSlots(part, within)
  for (const [key, value] of Object.entries(part)) {
    const isExample = !ofObject && (key === 'example' || key === 'examples')
    if (value === null || typeof value !== 'object' || isExample) continue
    yield* membersIn(value as Part, within, !ofObject && key === 'properties')
  }
}

/** The examples of an object contain those of its members. */
function leaveOutExamples(schema: Part, covered = false): void {
  const { examples, properties = {}, items, anyOf = [], oneOf = [], allOf = [] } = schema
  if (covered) delete schema.examples
  const inner = [...Object.values(properties as Part), items, ...[anyOf, oneOf, allOf].flat()]
  for (const part of inner) {
    if (part && typeof part === 'object') leaveOutExamples(part as Part, covered || examples !== undefined)
  }
}

interface Parameter {
  name: string
  description?: string
  schema?: ExampleSchema
  example?: unknown
}

/** Examples of parameters that do not follow from their schema. */
const OF_NAME: Record<string, unknown> = {
  budget: 15_000,
  cursor: 'eyJpZCI6MTB9',
  forecast_period: '2026-07',
  from: '2026-07-01',
  histogram: 10,
  id: '3f6d2a0e-0f7c-4b6e-9d1b-7c4f6f1f2a10',
  'If-None-Match': '"nV3qkx0GyQ8m2J0s1tYfR6bWcZa"',
  limit: 100,
  parent: 'ETH-01',
  pass: ['farmer'],
  Prefer: 'history=none',
  quantiles: [0.1, 0.5, 0.9],
  threshold: 5,
  to: '2026-12-31',
  'X-Request-Id': EXAMPLE_REQUEST_ID,
}

const SHOWN = /such as `([^`]+)`/

/** Examples for Postman, which makes calls of them. Forms of the page would send them, so that has none. */
function withParameterExamples(document: OpenAPIV3_1.Document): OpenAPIV3_1.Document {
  const schemas = (document.components?.schemas ?? {}) as Components
  const parameters = [
    ...Object.values(document.paths ?? {})
      .flatMap((path) => Object.values(path ?? {}) as { parameters?: (Parameter | { $ref: string })[] }[])
      .flatMap((operation) => operation.parameters ?? []),
    ...(Object.values(document.components?.parameters ?? {}) as Parameter[]),
  ].filter((parameter): parameter is Parameter => 'name' in parameter)
  // Of several with a name, the first is the most usual.
  const examples = new Map(
    parameters.toReversed().flatMap(({ name, example }) => (example === undefined ? [] : [[name, example]])),
  )
  for (const parameter of parameters) {
    const { name, description = '', schema = {} } = parameter
    parameter.example ??=
      SHOWN.exec(description)?.[1] ?? OF_NAME[name] ?? examples.get(name) ?? makeExample(schema, schemas)
  }
  return document
}

/** The documents for one purpose, with the operations of some paths. Each operation is in one of them. */
export const DOCUMENT_PARTS = {
  points: {
    title: 'Points: advice for one place or many, and the catalog',
    paths: /^\/(advisory(\/(\w+\/)?points?)?|catalog|validate_location)$/,
  },
  fields: {
    title: 'Fields: advice for polygons, areas and places by name',
    paths: /^\/(advisory\/\w+(\/polygons)?|admin|places)$/,
  },
  account: {
    title: 'Account: logins, keys, profile and history',
    paths: /^\/(auth|user|history)\/.*$/,
  },
  operations: {
    title: 'Operations: releases, maps, statistics and health',
    paths: /^\/((releases|\.well-known|stats|health)\b.*)?$/,
  },
} as const

export type DocumentPart = keyof typeof DOCUMENT_PARTS

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Of an operation whose path does not say it. */
    part?: DocumentPart
  }
}

function findPart([path, operations]: [string, object | undefined]): DocumentPart | undefined {
  const [operation] = Object.values(operations ?? {}) as { [ROUTE_FACTS]?: { part?: DocumentPart } }[]
  const { part } = operation?.[ROUTE_FACTS] ?? {}
  if (part) return part
  const parts = Object.entries(DOCUMENT_PARTS) as [DocumentPart, { paths: RegExp }][]
  return parts.find(([, { paths }]) => paths.test(path))?.[0]
}

function ofPart(document: OpenAPIV3_1.Document, part: DocumentPart): OpenAPIV3_1.Document {
  const paths = Object.fromEntries(
    Object.entries(document.paths ?? {}).filter((one) => findPart(one) === part),
  )
  const used = new Set(
    Object.values(paths).flatMap((path) =>
      Object.values(path ?? {}).flatMap((operation) => (operation as { tags?: string[] }).tags ?? []),
    ),
  )
  const { title } = document.info
  return {
    ...document,
    info: { ...document.info, title: `${title}. ${DOCUMENT_PARTS[part].title}` },
    paths,
    tags: document.tags?.filter(({ name }) => used.has(name)) ?? [],
  }
}

export const JSON_TYPE = 'application/json'

export interface DocumentCountry {
  code: string
  name: string
}

/** Generators of clients do not always choose JSON: `json` has JSON alone, and lists the others. `all` is for gateways. */
type DocumentedMedia = 'json' | 'all'

/** Media types that generators must not choose, beside `content`. */
const OTHER_MEDIA_TYPES = 'x-other-media-types'

interface Media {
  schema: { $ref?: string; anyOf?: { $ref?: string }[] }
}

export interface DocumentView {
  media: DocumentedMedia
  basePath: string
  part?: DocumentPart | undefined
}

const OWN_VIEW: DocumentView = { media: 'json', basePath: '', part: undefined }

/** The repository has it with the countries of a new database. The app must be ready. */
export function openapiYaml(app: App, countries: DocumentCountry[], view = OWN_VIEW): string {
  return formatYaml(makeOpenApiDocument(app, countries, view))
}

const YAML_WIDTH = 110

/** Maps and lists are on one line where they fit. */
function formatYaml(document: OpenAPIV3_1.Document): string {
  const yaml = new YamlDocument(document, { aliasDuplicateObjects: false })
  walk(yaml, {
    Collection(key, node, path) {
      // Each level indents by two, and the key stands before the value.
      const depth = path.filter(isCollection).length
      const width = YAML_WIDTH - 2 * depth - String(key ?? '').length
      if (JSON.stringify(node).length > width) return undefined
      node.flow = true
      quoteQuestions(node)
      return walk.SKIP
    },
  })
  return yaml.toString({ lineWidth: YAML_WIDTH, flowCollectionPadding: true })
}

/** Parsers of YAML 1.1, such as Python's, read a plain `?` in a map on one line as the mark of a key. */
function quoteQuestions(node: Node): void {
  walk(node, {
    Scalar(_, scalar) {
      if (String(scalar.value).includes('?')) scalar.type = 'QUOTE_SINGLE'
    },
  })
}

/** Fills in the countries, and replaces formats of ours. */
export function makeOpenApiDocument(
  app: App,
  countries: DocumentCountry[],
  { media, basePath, part } = OWN_VIEW,
): OpenAPIV3_1.Document {
  const codes = countries.map(({ code }) => `\`${code}\``).join(', ')
  const names = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(
    countries.map(({ name }) => name),
  )
  const asDocumented = (key: string, value: unknown): unknown => {
    if (key === DOCUMENTED_AS) return value
    if (typeof value === 'string') {
      return value
        .replace(COUNTRY_CODES, () => codes || 'none yet')
        .replace(COUNTRY_NAMES, () => names || 'no country yet')
    }
    if (value === null || typeof value !== 'object') return value
    if (DOCUMENTED_AS in value) {
      const documented = String(value[DOCUMENTED_AS])
      return JSON.parse(documented.replace(/"(\w+)#"/g, '"#/components/schemas/$1"'), asDocumented)
    }
    return withStandardFormat(value)
  }
  const served = { ...app.swagger(), servers: [{ url: basePath || '/' }] }
  const all = inOrderOfTags(JSON.parse(JSON.stringify(served), asDocumented))
  const whole = withOperations(part === undefined ? all : ofPart(all, part))
  const document =
    media === 'all' ? whole : JSON.parse(JSON.stringify(withParameterExamples(whole)), withJsonAlone)
  return shareComponents(withoutUnused(withGroup(document)))
}

/** Operations in the order of their tags: those of an extension stand among those of the core. */
function inOrderOfTags(document: OpenAPIV3_1.Document): OpenAPIV3_1.Document {
  const tags = document.tags?.map(({ name }) => name) ?? []
  const rankOf = (operations: object = {}) => {
    const [{ tags: [tag = ''] = [] } = {}] = Object.values(operations) as { tags?: string[] }[]
    return tags.indexOf(tag)
  }
  const paths = Object.entries(document.paths ?? {}).sort(([, a], [, b]) => rankOf(a) - rankOf(b))
  return { ...document, paths: Object.fromEntries(paths) }
}

function withoutUnused(document: OpenAPIV3_1.Document): OpenAPIV3_1.Document {
  const { securitySchemes: _, ...components } = document.components ?? {}
  const used = new Set(JSON.stringify(document).match(/"#\/components\/[^"]+"/g))
  const unused = Object.entries(components).flatMap(([kind, named]) =>
    Object.keys(named)
      .filter((name) => !used.has(`"#/components/${kind}/${name}"`))
      .map((name) => ({ named: named as Record<string, unknown>, name })),
  )
  if (unused.length === 0) return document
  for (const { named, name } of unused) delete named[name]
  // Components that only these referred to are unused too.
  return withoutUnused(document)
}

/** For `JSON.parse`: bodies with JSON have no other media type. */
function withJsonAlone(_key: string, value: unknown): unknown {
  if (value === null || typeof value !== 'object' || !('content' in value)) return value
  const { [JSON_TYPE]: json, ...others } = value.content as Record<string, Media>
  if (json === undefined || Object.keys(others).length === 0) return value
  return {
    ...value,
    content: { [JSON_TYPE]: withoutSchemas(Object.values(others), json) },
    [OTHER_MEDIA_TYPES]: Object.keys(others),
  }
}

/** Without the schemas of other media types, generators have no choice of schemas either. */
function withoutSchemas(others: Media[], json: Media): Media {
  const references = others.map(({ schema }) => schema.$ref)
  const [own, ...more] = json.schema.anyOf?.filter(({ $ref }) => !references.includes($ref)) ?? []
  return own && more.length === 0 ? { ...json, schema: own } : json
}
