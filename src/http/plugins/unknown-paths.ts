import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { ApiError, BASE } from '#src/errors.ts'
import type { App } from '../app.ts'
import { entityTag } from '../entity-tags.ts'
import { allowCaching } from './caching.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The methods that a path takes, OPTIONS included; none where there is no such path. */
    methodsOf(url: string): string[]
  }
}

/** In the order in which they are named. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/**
 * Answers what no route takes: 404 for a path that there is not, 405 with `Allow` for a method that a path
 * does not take. Neither needs a token, nor reads a body.
 */
export const unknownPaths = fp(
  async (app: App) => {
    const routes: { path: RegExp; methods: string[] }[] = []
    app.addHook('onRoute', ({ url, method, routePath, prefix, prefixTrailingSlash = 'both' }) => {
      // A route at a prefix is there with a slash at its end, too.
      const isBoth = routePath === '' && prefix !== '' && prefixTrailingSlash === 'both'
      const paths = isBoth ? [url, `${url}/`] : [url]
      // The preflight's route is there for every path, and makes none.
      if (url === '*') return
      for (const path of paths) routes.push({ path: patternOf(path), methods: [method].flat() })
    })

    app.decorate('methodsOf', (url: string) => {
      const path = url.split('?')[0] as string
      const taken = new Set(routes.filter((route) => route.path.test(path)).flatMap(({ methods }) => methods))
      if (taken.size > 0) taken.add('OPTIONS')
      return METHODS.filter((method) => taken.has(method))
    })

    // In a scope of its own, whose hook no other request passes.
    await app.register(async (unknown) => {
      unknown.addHook('onRequest', (request, _reply, done) => done(refusalOf(app, request)))
      unknown.setNotFoundHandler((request, reply) => reply.send(refusalOf(app, request)))
    })
  },
  { name: 'unknown-paths', dependencies: ['error-handler'] },
)

/** What matches the paths of a route. */
function patternOf(url: string): RegExp {
  const segments = url.split('/').map((segment) => {
    if (segment.startsWith(':')) return '[^/]+'
    return segment === '*' ? '.*' : segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  })
  return new RegExp(`^${segments.join('/')}$`)
}

function refusalOf(app: App, { method, url }: FastifyRequest): ApiError {
  const path = url.split('?')[0] as string
  const methods = app.methodsOf(path)
  // A route may have found that there is no such file.
  if (methods.length === 0 || methods.includes(method)) {
    return new ApiError('NOT_FOUND', `Path not found: ${method} ${path}. See ${BASE}/docs.`)
  }
  const named = methods.filter((name) => name !== 'HEAD' && name !== 'OPTIONS').join(', ')
  return new ApiError('METHOD_NOT_ALLOWED', `${path} does not take ${method}, but ${named}.`).withHeader(
    'allow',
    methods.join(', '),
  )
}

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
