import swagger from '@fastify/swagger'
import type { FastifyContextConfig, FastifyReply, FastifyRequest, FastifySchema } from 'fastify'
import fp from 'fastify-plugin'
import { LRUCache } from 'lru-cache'
import type { OpenAPIV3_1 } from 'openapi-types'
import { AdvisedArea } from '#schemas/areas.ts'
import { COUNTRY_NAMES, ErrorBody, ErrorDetail, Picture } from '#schemas/common.ts'
import { Feedback, observedSchemaOf } from '#schemas/feedback.ts'
import { geometrySchemas } from '#schemas/geojson.ts'
import { AdminSelection, PolygonGeometry } from '#schemas/polygon.ts'
import { listOf } from '#schemas/product.ts'
import { SERVICE_NAME } from '#schemas/service.ts'
import { UserProfile } from '#schemas/user.ts'
import { errorCodeSchema } from '#src/errors.ts'
import { VERSION } from '#src/lib/version.ts'
import type { Products } from '#src/products/define.ts'
import type { App } from '../app.ts'
import {
  type DocumentCountry,
  type DocumentedMedia,
  type DocumentView,
  documentOf,
  JSON_TYPE,
  openapiYaml,
} from '../openapi-document.ts'
import type { RouteFacts } from '../openapi-headers.ts'
import { ROUTE_FACTS } from '../openapi-operations.ts'
import { scopeOf } from './authentication.ts'

/** @param advice what the service gives, as a list */
const descriptionOf = (advice: string) =>
  `
What the season's science says about a place in ${COUNTRY_NAMES}: ${advice}, from the rasters that agronomists publish.

What is optional is left out by \`null\` in a body, by an empty parameter in a query and by an empty cell in a table.

Errors are JSON with an \`error\` sentence for people, a stable \`code\` for programs, and the \`request_id\` that is in \`X-Request-Id\`, too. Beside those that an operation lists, any request may be answered 404 \`NOT_FOUND\` for a path that there is not, and 405 \`METHOD_NOT_ALLOWED\` with \`Allow\` for a method that a path does not take; \`OPTIONS\` of a path says \`Allow\`, too.

\`Accept-Encoding: gzip\` has answers above 1 kB compressed (\`Content-Encoding\`; answers to \`GET\` then say so in \`Vary\`), and an \`ETag\` is a weak one there. Bodies may be sent with a \`Content-Encoding\` of gzip, deflate or br; a 415 for another one names these in \`Accept-Encoding\`.

New fields may be added to answers, and new values to those that are listed; what is deprecated says so in \`Deprecation\` and \`Sunset\` headers, a year before it is gone.`.trim()

const BEARER = 'bearerAuth'

/** For public operations that make use of a token where one is sent. */
export const OPTIONAL_TOKEN: Record<string, string[]>[] = [{}, { [BEARER]: [] }]

export interface OpenapiOptions {
  /** The countries of now, in the order in which they are to be named; asked for with each document. */
  countries: () => Promise<DocumentCountry[]>
}

/** The OpenAPI document made of the routes' schemas. */
export const openapi = fp(
  async (app: App, { countries }: OpenapiOptions) => {
    // What several domains speak of.
    const { list: products } = app.products
    const shared = [
      errorCodeSchema,
      ErrorDetail,
      ErrorBody,
      UserProfile,
      observedSchemaOf(products),
      Feedback,
      AdvisedArea,
      AdminSelection,
      PolygonGeometry,
      Picture,
      ...geometrySchemas,
    ]
    for (const schema of shared) app.addSchema(schema)

    await app.register(swagger, {
      openapi: headOf(products, app.config.BASE_PATH),
      refResolver: {
        buildLocalReference: (json, _base, _fragment, index) => String(json.$id ?? `schema${index}`),
      },
      transform: ({ schema, url, route }) => ({ schema: operationOf(schema ?? {}, route.config ?? {}), url }),
    })

    const documents = rememberedDocuments(app)
    const answer = (
      { basePath }: FastifyRequest,
      reply: FastifyReply,
      [kind, type]: Representation,
      media: DocumentedMedia,
    ) => countries().then((named) => reply.type(type).send(documents[kind](named, { media, basePath })))

    const hidden = { schema: { hide: true }, config: { public: true } }
    for (const [path, representation] of Object.entries(DOCUMENTS)) {
      app.get<{ Querystring: { media?: string } }>(app.config.BASE_PATH + path, hidden, (request, reply) =>
        answer(request, reply, representation, request.query.media === 'all' ? 'all' : 'json'),
      )
    }
    for (const [path, representation] of Object.entries(DOCUMENTS_OF_PAGE)) {
      app.get(app.config.BASE_PATH + path, hidden, (request, reply) =>
        answer(request, reply, representation, 'all'),
      )
    }
  },
  { name: 'openapi' },
)

/** The document without its operations. */
function headOf(products: Products['list'], basePath: string): Partial<OpenAPIV3_1.Document> {
  return {
    openapi: '3.1.0',
    info: {
      title: SERVICE_NAME,
      version: VERSION,
      description: descriptionOf(listOf(products.map(({ names }) => names.advice))),
      contact: { name: 'Whoever operates this service' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    // Paths are told without it.
    servers: [{ url: basePath || '/' }],
    components: {
      securitySchemes: {
        [BEARER]: {
          type: 'http',
          scheme: 'bearer',
          description: 'The `access_token` of `POST /auth/login`, or a key of `POST /auth/keys`.',
        },
      },
    },
    // Each operation says itself whether it needs a token.
    security: [],
    // In the order of the page: what everybody came for first, what few need last.
    tags: [
      { name: 'advisory', description: 'What the published releases say about a place.' },
      { name: 'places', description: 'Administrative areas, and which of them a point lies in.' },
      { name: 'catalog', description: 'What is published.' },
      { name: 'subscriptions', description: 'Who is told, at an address of theirs, when values change.' },
      { name: 'history', description: 'What callers with a token were answered, and what they say of it.' },
      { name: 'service', description: 'The service itself: its links and its health.' },
      { name: 'user', description: 'What is kept of a person.' },
      { name: 'auth', description: 'Accounts: who calls, and how they prove it.' },
    ],
  }
}

/** A route's schema as its operation is described by it. */
function operationOf(schema: FastifySchema, config: FastifyContextConfig): FastifySchema {
  const { queryAlternative, bodyForms, bodyRemainder, ...rest } = schema
  const { public: open, caching, deprecated, idempotent, preferences } = config
  const optionalBody = bodyRemainder !== undefined
  const scope = scopeOf(config)
  const facts: RouteFacts = { open, scope, caching, deprecated, idempotent, preferences, optionalBody }
  const forms = bodyRemainder ? { [JSON_TYPE]: { anyOf: [rest.body, bodyRemainder] } } : bodyForms
  const operation = {
    ...rest,
    ...inferredFrom(schema, config),
    [ROUTE_FACTS]: facts,
    ...(forms && { body: { content: mediaOf(forms) } }),
    ...(queryAlternative !== undefined && { querystring: queryAlternative }),
  }
  return operation
}

/** A form of the document, and the media type that it is sent as. */
type Representation = ['json' | 'yaml', string]

/** Where programs find the document. */
const DOCUMENTS: Record<string, Representation> = {
  '/openapi.json': ['json', 'application/json; charset=utf-8'],
  '/openapi.yaml': ['yaml', 'application/yaml; charset=utf-8'],
}

/** Where the page finds it, with all media types to try. */
const DOCUMENTS_OF_PAGE: Record<string, Representation> = {
  '/docs/json': DOCUMENTS['/openapi.json'] as Representation,
  '/docs/yaml': ['yaml', 'application/x-yaml'],
}

/** The texts of the document, each made anew only where the countries have changed. */
function rememberedDocuments(app: App) {
  return {
    json: rememberingSome((named, view) => JSON.stringify(documentOf(app, named, view))),
    yaml: rememberingSome((named, view) => openapiYaml(app, named, view)),
  }
}

/** Clients come by one path or two, and ask for one kind or two: some texts are as many as are asked for. */
const REMEMBERED_TEXTS = 8

/** Makes a text anew only where it is asked for with other countries, or by others, than lately. */
function rememberingSome(make: (countries: DocumentCountry[], view: DocumentView) => string) {
  const texts = new LRUCache<string, string>({ max: REMEMBERED_TEXTS })
  return (countries: DocumentCountry[], view: DocumentView): string => {
    const key = JSON.stringify([countries, view])
    const text = texts.get(key) ?? make(countries, view)
    texts.set(key, text)
    return text
  }
}

/** What the marking of a route says of its operation: who may call it, and with which keys. */
function inferredFrom(schema: FastifySchema, config: FastifyContextConfig) {
  if (config.public) return { security: schema.security ?? [] }
  const rule = ruleOf(config)
  const description = [schema.description, rule].filter(Boolean).join('\n\n')
  return { security: [{ [BEARER]: [] }], description }
}

function ruleOf(config: FastifyContextConfig): string {
  if (config.login === undefined) return `A key needs the scope \`${scopeOf(config)}\`.`
  if (config.login === 'any') return 'For logins alone: no key may do it.'
  return 'For logins alone whose password was given within the last ten minutes, at `POST /auth/login` or `POST /auth/reauthenticate`: no key may do it.'
}

function mediaOf(forms: Record<string, unknown>): Record<string, { schema: unknown }> {
  return Object.fromEntries(Object.entries(forms).map(([mediaType, schema]) => [mediaType, { schema }]))
}
