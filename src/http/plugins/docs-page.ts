import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import files from '@fastify/static'
import fp from 'fastify-plugin'
import { SERVICE_NAME } from '#schemas/service.ts'
import type { App } from '../app.ts'
import type { Reading } from '../docs-page/markdown.ts'
import { pageOf, readingPageOf } from '../docs-page/page.ts'
import { READING_PATHS, type ReadingPath, readDocument } from '../docs-page/readings.ts'
import { allowAsset } from './caching.ts'

/** What the page may load and do; the styles of Swagger UI are partly written in place. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const HTML = 'text/html; charset=utf-8'

const OURS = join(import.meta.dirname, '../docs-page/static')
const SWAGGER_UI = dirname(createRequire(import.meta.url).resolve('@fastify/swagger-ui/package.json'))

/** The files of the page, and where they are. */
const FILES: Record<string, string> = {
  'mark.svg': OURS,
  'page.css': OURS,
  'page.js': OURS,
  'reading.js': OURS,
  'resolve.js': OURS,
  'visitor.js': OURS,
  'swagger-ui.css': join(SWAGGER_UI, 'static'),
  'swagger-ui-bundle.js': join(SWAGGER_UI, 'static'),
}

export interface DocsPageOptions {
  /** Whether synthetic values are published now; asked for with each page. */
  synthetic: () => Promise<boolean>
}

/**
 * The page of the documentation: a guide, and Swagger UI, in which every operation can be tried; and the documents that
 * the guide leads to. Its links are relative, so that it may lie under any path.
 *
 * The guide is not the description of the OpenAPI document, which would show it as well: generators of clients copy that
 * into what they make.
 */
export const docsPage = fp(
  async (app: App, { synthetic }: DocsPageOptions) => {
    const [first] = app.products.list
    const frame = { title: SERVICE_NAME, version: versionOfFiles() }
    const reading = rememberedReadings()

    await app.register(
      async (open) => {
        open.addHook('onRoute', (route) => {
          route.config = { ...route.config, public: true }
        })
        open.addHook('onRequest', (_request, reply, done) => {
          reply.header('content-security-policy', PAGE_POLICY)
          done()
        })
        // Relative links begin at the last slash.
        for (const [path, folder] of [
          ['', 'docs/'],
          ['/', ''],
        ] as const) {
          open.get(
            path,
            { schema: { hide: true }, prefixTrailingSlash: 'slash' },
            async (_request, reply) => {
              const [guide, isSynthetic] = await Promise.all([reading('', folder), synthetic()])
              const product = first?.code ?? ''
              return reply
                .type(HTML)
                .send(pageOf({ ...frame, folder, product, synthetic: isSynthetic, guide }))
            },
          )
        }
        for (const path of READING_PATHS) {
          open.get(`/${path}`, { schema: { hide: true } }, async (_request, reply) =>
            reply.type(HTML).send(readingPageOf(await reading(path, ''), { ...frame, folder: '' })),
          )
        }
        await open.register(async (assets) => {
          assets.addHook('onRoute', (route) => {
            route.config = { ...route.config, caching: 'asset' }
            route.onSend = allowAsset
          })
          await assets.register(files, {
            root: [...new Set(Object.values(FILES))],
            prefix: '/static',
            decorateReply: false,
            allowedPath: (path) => Object.hasOwn(FILES, path.slice(1)),
          })
        })
      },
      { prefix: `${app.config.BASE_PATH}/docs` },
    )
  },
  { name: 'docs-page', dependencies: ['openapi', 'security-headers'] },
)

/** Reads each document once. */
function rememberedReadings() {
  const readings = new Map<string, Promise<Reading>>()
  return (path: ReadingPath, folder: string): Promise<Reading> => {
    const address = `${folder}${path}`
    const found = readings.get(address) ?? readDocument(path, folder)
    readings.set(address, found)
    // One that could not be read is tried again.
    found.catch(() => readings.delete(address))
    return found
  }
}

/** The same as long as all files of the page are, which are kept for long under their names. */
function versionOfFiles(): string {
  const hash = createHash('sha256')
  for (const [name, folder] of Object.entries(FILES)) hash.update(readFileSync(join(folder, name)))
  return hash.digest('hex').slice(0, 12)
}
