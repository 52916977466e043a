import swagger from '@fastify/swagger'
import type { FastifyContextConfig, FastifyReply, FastifyRequest, FastifySchema } from 'fastify'
import fp from 'fastify-plugin'
import type { OpenAPIV3_1 } from 'openapi-types'
import { AdvisedArea } from '#schemas/areas.ts'
import { EntryCondition } from '#schemas/certainty.ts'
import { COUNTRY_NAMES, defineErrorCode, ErrorBody, ErrorDetail, Picture } from '#schemas/common.ts'
import { defineObservedSchema, Feedback } from '#schemas/feedback.ts'
import { geometrySchemas } from '#schemas/geojson.ts'
import { AdminSelection, PolygonGeometry } from '#schemas/polygon.ts'
import { joinNames } from '#schemas/product.ts'
import type { Products } from '#schemas/products/define.ts'
import { QuantityParameters } from '#schemas/quantities.ts'
import { SERVICE_NAME } from '#schemas/service.ts'
import { UserProfile } from '#schemas/user.ts'
import type { ErrorCode } from '#src/errors.ts'
import { Cache } from '#src/lib/cache.ts'
import { VERSION } from '#src/lib/version.ts'
import { type App, BEARER } from '../app.ts'
import { listScopes } from '../caller.ts'
import { entityTag } from '../entity-tags.ts'
import type { Exchange } from '../exchange.ts'
import {
  DOCUMENT_PARTS,
  type DocumentCountry,
  type DocumentPart,
  type DocumentView,
  makeOpenApiDocument,
  openapiYaml,
} from '../openapi/document.ts'
import { type Deprecated, ROUTE_FACTS } from '../openapi/operations.ts'
import { allowCaching } from './caching.ts'
import { createClientSignal } from './time-budget.ts'

declare module 'fastify' {
  interface FastifyInstance {
    sendDocument(exchange: Exchange, kind: Kind): Promise<FastifyReply>
    /** The document as generators have it; the same object until it changes. */
    readDocument(): Promise<OpenAPIV3_1.Document>
  }
  interface FastifyContextConfig {
    /** See docs/versioning.md. */
    deprecated?: Deprecated
  }
}

const createDescription = (advice: string) =>
  `
Advice for places in ${COUNTRY_NAMES}: ${advice}, from the rasters that agronomists publish.

A \`null\` in a body, an empty parameter in a query and an empty cell in a table leave an optional value out.

Errors are JSON with an \`error\` sentence for people, a stable \`code\` for programs, and the \`request_id\` of \`X-Request-Id\`. Unknown paths are 404 \`NOT_FOUND\`. Other methods are 405 \`METHOD_NOT_ALLOWED\`, and \`Allow\` lists the right ones; \`OPTIONS\` of a path lists them as well.

With \`Accept-Encoding: gzip\`, answers above 1 kB are compressed, with a weak \`ETag\`; answers to \`GET\` have \`Vary\`. Bodies may have a \`Content-Encoding\` of gzip, deflate or br; a 415 lists these in \`Accept-Encoding\`.

Later versions may add fields to answers and values to lists. Deprecated operations have \`Deprecation\` and \`Sunset\` headers for a year.`.trim()

const createAdvisory = (rules: readonly string[]) =>
  `
Advice of the published releases for a place.

**Values.** A point has the values of its pixel, never of a neighbour. Layers without a value are left out; 0 is a value. A point without any is a 404.

**Places.** \`GET /advisory/{product}\` and \`GET /advisory\` answer for a \`place\` by its name: an area or your field with its mean, a position with its pixel. A name of several areas, or only near to one, is 404 \`UNKNOWN_AREA\` with \`did_you_mean\`: send the code of one.

**Parameters.** Body and query are merged field by field, and the body wins. The query takes each member of the body, in the form that \`GET\` shows. Caches keep an answer to \`GET\` for a minute.

**Quantities.** \`area\`, \`bags\`, \`prices\`, \`budget\`, \`produce_price\`, \`scenario_weights\` or \`nutrients\` add a \`quantity\` to each entry of a rate or a yield: the amount on the area, in whole bags and in money.

${rules.map((rule) => `${rule}\n\n`).join('')}**History.** With a valid token the answer is stored in the caller's history, except with \`Prefer: history=none\` or a key without the scope \`history\`.

**Many points.** Points are sent as JSON, NDJSON, CSV or GeoJSON. \`Accept\` chooses the form of the answer; the default is the form of the request. Each point is answered for the \`country_code\` of the call, or for its own country (\`country_source\`). \`pass=area_ha,farmer\` copies columns or properties to the answers. Batches are not stored.`.trim()

interface Tag {
  name: string
  description: string
}

/** Of an extension. @property before the tag that it stands before, of the core or an earlier extension */
export type ExtensionTag = Tag & { before: string }

/** In the order of the page, behind `advisory`. */
const TAGS: readonly Tag[] = [
  { name: 'places', description: 'Administrative areas, and the areas of a point.' },
  { name: 'catalog', description: 'The published data.' },
  { name: 'history', description: 'Earlier answers to callers with a token, and their feedback.' },
  { name: 'service', description: 'The service itself: its links and its health.' },
  { name: 'user', description: 'The account of the caller.' },
  { name: 'auth', description: 'Registration, logins, passwords and keys.' },
]

function withTags(own: readonly Tag[], others: readonly ExtensionTag[]): Tag[] {
  const tags = [...own]
  for (const { before, ...tag } of others) {
    tags.splice(
      tags.findIndex(({ name }) => name === before),
      0,
      tag,
    )
  }
  return tags
}

interface OpenapiOptions {
  countries: () => Promise<DocumentCountry[]>
  /** Of extensions, as paragraphs for people. */
  rules: readonly string[]
  /** Of the core and of extensions. */
  codes: ErrorCode[]
  tags: readonly ExtensionTag[]
}

export const openapi = fp(
  async (app: App, { countries, codes, ...added }: OpenapiOptions) => {
    // Schemas of several rooms.
    const { list: products } = app.products
    const shared = [
      defineErrorCode(codes),
      ErrorDetail,
      ErrorBody,
      UserProfile,
      defineObservedSchema(products),
      Feedback,
      EntryCondition,
      AdvisedArea,
      AdminSelection,
      PolygonGeometry,
      QuantityParameters,
      Picture,
      ...geometrySchemas,
    ]
    for (const schema of shared) app.addSchema(schema)

    await app.register(swagger, {
      openapi: createHead(products, app.config.BASE_PATH, added),
      refResolver: {
        buildLocalReference: (json, _base, _fragment, index) => String(json.$id ?? `schema${index}`),
      },
      transform: ({ schema, url, route }) => ({
        schema: createOperation(schema ?? {}, route.config ?? {}),
        url,
      }),
    })

    const texts = new Cache<string, Text>('documents', { max: MOST_TEXTS })

    /** A text changes with the countries alone. */
    async function writeText(kind: Kind, shown: DocumentView): Promise<Text> {
      const named = await countries()
      return texts.getOrCreate(JSON.stringify([kind, named, shown]), () => {
        const text =
          kind === 'yaml'
            ? openapiYaml(app, named, shown)
            : JSON.stringify(makeOpenApiDocument(app, named, shown))
        return { text, tag: entityTag(text) }
      })
    }

    async function send(
      exchange: Exchange,
      kind: Kind,
      view: Omit<DocumentView, 'basePath'>,
    ): Promise<FastifyReply> {
      const { request, reply } = exchange
      // The page of the documentation asks its own host, also behind another PUBLIC_URL.
      const isAbsolute = view.media === 'json' && request.host !== ''
      const shown = { ...view, basePath: isAbsolute ? ADDRESS : request.basePath }
      const { text, tag } = await writeText(kind, shown)
      const address = isAbsolute ? request.rootUrl : ''
      if (allowCaching(exchange, isAbsolute ? entityTag(tag, address) : tag)) return reply.code(304).send()
      // A megabyte: short answers are first.
      await exchange.nextSlice(createClientSignal(reply))
      return reply.type(MEDIA_TYPES[kind]).send(text.replace(ADDRESS, () => address))
    }

    const config = { public: true, caching: 'document', takesOwnPermit: true } as const
    for (const part of [undefined, ...(Object.keys(DOCUMENT_PARTS) as DocumentPart[])]) {
      for (const kind of ['json', 'yaml'] as const) {
        const path = part === undefined ? `/openapi.${kind}` : `/openapi/${part}.${kind}`
        app.get<{ Querystring: { media?: string } }>(
          app.config.BASE_PATH + path,
          { schema: { hide: true }, config },
          (request) => {
            const media = request.query.media === 'all' ? 'all' : 'json'
            return send(request.exchange, kind, { media, part })
          },
        )
      }
    }
    app.decorate('sendDocument', (exchange, kind) => send(exchange, kind, { media: 'all' }))
    const documents = new WeakMap<Text, OpenAPIV3_1.Document>()
    app.decorate('readDocument', async () => {
      const text = await writeText('json', { media: 'json', basePath: ADDRESS })
      const document = documents.get(text) ?? JSON.parse(text.text)
      documents.set(text, document)
      return document
    })
  },
  { name: 'openapi', dependencies: ['caching'] },
)

function createHead(
  products: Products['list'],
  basePath: string,
  { rules, tags: others }: Pick<OpenapiOptions, 'rules' | 'tags'>,
): Partial<OpenAPIV3_1.Document> {
  return {
    openapi: '3.1.0',
    info: {
      title: SERVICE_NAME,
      version: VERSION,
      description: createDescription(joinNames(products.map(({ names }) => names.advice))),
      contact: { name: 'The operator of this service' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    // Paths are without it.
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
    // Each operation has its own.
    security: [],
    tags: withTags([{ name: 'advisory', description: createAdvisory(rules) }, ...TAGS], others),
  }
}

function createOperation(schema: FastifySchema, config: FastifyContextConfig): FastifySchema {
  const { queryAlternative, bodyForms, ...rest } = schema
  const operation = {
    ...rest,
    ...describeAccess(schema, config),
    [ROUTE_FACTS]: config,
    ...(bodyForms && {
      body: {
        content: Object.fromEntries(Object.entries(bodyForms).map(([type, schema]) => [type, { schema }])),
      },
    }),
    ...(queryAlternative !== undefined && { querystring: queryAlternative }),
  }
  return operation
}

const MEDIA_TYPES = {
  json: 'application/json; charset=utf-8',
  yaml: 'application/yaml; charset=utf-8',
} as const

type Kind = keyof typeof MEDIA_TYPES

/** Stands for the address in stored texts: a client may ask by any name of the host, and a text takes long to make. */
const ADDRESS = 'https://address.invalid'

/** The whole document and its parts, with one or two base paths, both formats and kinds of media types. */
const MOST_TEXTS = 40

interface Text {
  text: string
  tag: string
}

function describeAccess(schema: FastifySchema, config: FastifyContextConfig) {
  if (config.public) return { security: schema.security ?? [] }
  const rule = describeRule(config)
  const description = [schema.description, rule].filter(Boolean).join('\n\n')
  return { security: [{ [BEARER]: [] }], description }
}

function describeRule(config: FastifyContextConfig): string {
  if (config.login === undefined) {
    const scopes = listScopes(config).map((scope) => `\`${scope}\``)
    return `A key needs the scope${scopes.length > 1 ? 's' : ''} ${scopes.join(' and ')}.`
  }
  if (config.login === 'any') return 'Logins only: keys are refused.'
  return 'Logins only, with the password given within ten minutes (`POST /auth/login`, `POST /auth/reauthenticate`).'
}

/** Headers of deprecated routes: `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and links (RFC 8288). */
export const deprecation = fp(
  async (app: App) => {
    app.addHook('onRoute', (route) => {
      if (!route.config?.deprecated) return
      const { since, sunset, page, successor } = route.config.deprecated
      const headers = {
        deprecation: `@${Date.parse(since) / 1000}`,
        ...(sunset !== undefined && { sunset: new Date(sunset).toUTCString() }),
      }
      const links = [
        ...(page === undefined ? [] : [`<${page}>; rel="deprecation"; type="text/html"`]),
        ...(successor === undefined
          ? []
          : [`<${app.config.BASE_PATH}${successor}>; rel="successor-version"`]),
      ]
      const announce = async (_request: FastifyRequest, reply: FastifyReply) => {
        // The answer may have other links.
        const link = [reply.getHeader('link') ?? [], ...links].flat().join(', ')
        reply.headers({ ...headers, ...(link !== '' && { link }) })
      }
      route.onSend = [...[route.onSend ?? []].flat(), announce]
    })
  },
  { name: 'deprecation' },
)
