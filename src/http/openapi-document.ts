import type { OpenAPIV3_1 } from 'openapi-types'
import { stringify } from 'yaml'
import { COUNTRY_CODES, COUNTRY_NAMES, DOCUMENTED_AS } from '#schemas/common.ts'
import type { App } from './app.ts'
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

/** The document as it is served and, with the countries of a new database, checked in. The app must be ready. */
export function openapiYaml(app: App, countries: DocumentCountry[], media: DocumentedMedia = 'json'): string {
  return stringify(documentOf(app, countries, media), { lineWidth: 110, aliasDuplicateObjects: false })
}

/** The document with the countries in its descriptions, in words that validators of others know. */
export function documentOf(
  app: App,
  countries: DocumentCountry[],
  media: DocumentedMedia = 'json',
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
    return media === 'json' && 'content' in value ? withJsonAlone(value) : withStandardFormat(value)
  }
  return withoutUnused(JSON.parse(JSON.stringify(app.swagger()), asDocumented))
}

/** A document without the components that only media types it does not have are made of. */
function withoutUnused(document: OpenAPIV3_1.Document): OpenAPIV3_1.Document {
  const schemas = document.components?.schemas ?? {}
  const text = JSON.stringify(document)
  const unused = Object.keys(schemas).filter((name) => !text.includes(`"#/components/schemas/${name}"`))
  if (unused.length === 0) return document
  for (const name of unused) delete schemas[name]
  // What only these referred to is not used either.
  return withoutUnused(document)
}

/** The body of a request or an answer with JSON alone, where it may be JSON. */
function withJsonAlone(body: { content?: unknown }): object {
  const { [JSON_TYPE]: json, ...others } = body.content as Record<string, unknown>
  if (json === undefined || Object.keys(others).length === 0) return body
  return { ...body, content: { [JSON_TYPE]: json }, [OTHER_MEDIA_TYPES]: Object.keys(others) }
}

/** A schema as text, its references made those of the document. */
function withComponents(schema: unknown): string {
  return String(schema).replace(/"(\w+)#"/g, '"#/components/schemas/$1"')
}
