import type { OpenAPIV3_1 } from 'openapi-types'
import { isCollection, visit, Document as YamlDocument } from 'yaml'
import { COUNTRY_CODES, COUNTRY_NAMES, DOCUMENTED_AS } from '#schemas/common.ts'
import type { App } from './app.ts'
import { shareComponents, withGroups } from './openapi-components.ts'
import { withOperations } from './openapi-operations.ts'
import { withParameterExamples } from './openapi-parameters.ts'
import { type DocumentPart, withPaths } from './openapi-parts.ts'
import { withStandardFormat } from './validation.ts'

export const JSON_TYPE = 'application/json'

/** A country as the document names it. */
export interface DocumentCountry {
  code: string
  name: string
}

/**
 * Which media types the document has. Generators of clients choose one where an operation has several, and
 * not always JSON: `json` has JSON alone where there is a choice, and names the others beside it. `all` is for
 * gateways, which let through what the document has.
 */
export type DocumentedMedia = 'json' | 'all'

/** Beside a `content`: the media types that generators are not to choose. */
const OTHER_MEDIA_TYPES = 'x-other-media-types'

interface Media {
  schema: { $ref?: string; anyOf?: { $ref?: string }[] }
}

/** Which document is asked for. */
export interface DocumentView {
  media: DocumentedMedia
  /** What stands before its paths for who asks for it. */
  basePath: string
  /** Left out for the whole document. */
  part?: DocumentPart | undefined
}

const OWN_VIEW: DocumentView = { media: 'json', basePath: '', part: undefined }

/** The document as it is served and, with the countries of a new database, checked in. The app must be ready. */
export function openapiYaml(app: App, countries: DocumentCountry[], view = OWN_VIEW): string {
  return yamlOf(documentOf(app, countries, view))
}

const YAML_WIDTH = 110

/** A document as YAML, in which maps and lists stand on one line where they fit. */
function yamlOf(document: OpenAPIV3_1.Document): string {
  const yaml = new YamlDocument(document, { aliasDuplicateObjects: false })
  visit(yaml, {
    Collection(key, node, path) {
      // Each level indents by two, and the key stands before the value.
      const depth = path.filter(isCollection).length
      const room = YAML_WIDTH - 2 * depth - String(key ?? '').length
      if (JSON.stringify(node).length <= room) node.flow = true
      return node.flow ? visit.SKIP : undefined
    },
  })
  return yaml.toString({ lineWidth: YAML_WIDTH, flowCollectionPadding: true })
}

/** The document with the countries in its descriptions, in words that validators of others know. */
export function documentOf(
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
    if (DOCUMENTED_AS in value) return JSON.parse(withComponents(value[DOCUMENTED_AS]), asDocumented)
    return withStandardFormat(value)
  }
  const served = { ...app.swagger(), servers: [{ url: basePath || '/' }] }
  const whole = withOperations(JSON.parse(JSON.stringify(served), asDocumented))
  const ofMedia =
    media === 'all' ? whole : JSON.parse(JSON.stringify(withParameterExamples(whole)), withJsonAlone)
  const document = part === undefined ? ofMedia : withPaths(ofMedia, part)
  return shareComponents(withoutUnused(withGroups(document)))
}

/** A document without the components that nothing in it refers to. */
function withoutUnused(document: OpenAPIV3_1.Document): OpenAPIV3_1.Document {
  const { securitySchemes: _, ...components } = document.components ?? {}
  const text = JSON.stringify(document)
  const unused = Object.entries(components).flatMap(([kind, named]) =>
    Object.keys(named)
      .filter((name) => !text.includes(`"#/components/${kind}/${name}"`))
      .map((name) => ({ named: named as Record<string, unknown>, name })),
  )
  if (unused.length === 0) return document
  for (const { named, name } of unused) delete named[name]
  // What only these referred to is not used either.
  return withoutUnused(document)
}

/** Leaves JSON alone in the bodies of requests and answers that may be JSON; for `JSON.parse`. */
function withJsonAlone(_key: string, value: unknown): unknown {
  if (value === null || typeof value !== 'object' || !('content' in value)) return value
  const { [JSON_TYPE]: json, ...others } = value.content as Record<string, Media>
  if (json === undefined || Object.keys(others).length === 0) return value
  return {
    ...value,
    content: { [JSON_TYPE]: withoutSchemasOf(Object.values(others), json) },
    [OTHER_MEDIA_TYPES]: Object.keys(others),
  }
}

/** Of several schemas those alone that no other media type has: no choice is left to generators there, either. */
function withoutSchemasOf(others: Media[], json: Media): Media {
  const references = others.map(({ schema }) => schema.$ref)
  const [own, ...more] = json.schema.anyOf?.filter(({ $ref }) => !references.includes($ref)) ?? []
  return own && more.length === 0 ? { ...json, schema: own } : json
}

/** A schema as text, its references made those of the document. */
function withComponents(schema: unknown): string {
  return String(schema).replace(/"(\w+)#"/g, '"#/components/schemas/$1"')
}
