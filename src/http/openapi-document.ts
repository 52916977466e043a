import type { OpenAPIV3_1 } from 'openapi-types'
import { stringify } from 'yaml'
import { COUNTRY_CODES, COUNTRY_NAMES, DOCUMENTED_AS } from '#schemas/common.ts'
import type { App } from './app.ts'
import { withStandardFormat } from './validation.ts'

/** A country as the document names it. */
export interface DocumentCountry {
  code: string
  name: string
}

/** The document as it is served and, with the countries of a new database, checked in. The app must be ready. */
export function openapiYaml(app: App, countries: DocumentCountry[]): string {
  return stringify(documentOf(app, countries), { lineWidth: 110, aliasDuplicateObjects: false })
}

/** The document with the countries in its descriptions, in words that validators of others know. */
export function documentOf(app: App, countries: DocumentCountry[]): OpenAPIV3_1.Document {
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
  return JSON.parse(JSON.stringify(app.swagger()), asDocumented)
}

/** A schema as text, its references made those of the document. */
function withComponents(schema: unknown): string {
  return String(schema).replace(/"(\w+)#"/g, '"#/components/schemas/$1"')
}
