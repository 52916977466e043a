import fp from 'fastify-plugin'
import type { App } from '../app.ts'
import { entityTag } from '../entity-tags.ts'
import { allowCaching } from './caching.ts'

/**
 * Asks crawlers to read the documents alone, which people look for: all else are answers to questions, of which
 * there is no end. It lies at the root of the host, where crawlers ask for it, whatever the prefix of the others.
 */
export const robots = fp(
  async (app: App) => {
    app.get(
      '/robots.txt',
      { config: { public: true, caching: 'asset' }, schema: { hide: true } },
      async (request, reply) => {
        const text = rulesOf(request.basePath)
        if (allowCaching(request, reply, entityTag(text))) return reply.code(304).send()
        return reply.type('text/plain; charset=utf-8').send(text)
      },
    )
  },
  { name: 'robots', dependencies: ['base-path', 'caching'] },
)

/** @param base what stands before the paths of the service */
function rulesOf(base: string): string {
  const allowed = ['/docs', '/openapi.json', '/openapi.yaml'].map((path) => `Allow: ${base}${path}\n`)
  return `User-agent: *\n${allowed.join('')}Disallow: ${base}/\n`
}
