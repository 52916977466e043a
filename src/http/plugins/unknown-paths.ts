import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { ApiError, BASE } from '#src/errors.ts'
import type { App } from '../app.ts'
import { entityTag } from '../entity-tags.ts'
import { allowCaching } from './caching.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Methods of a path with OPTIONS; empty for an unknown path. */
    methodsOf(url: string): string[]
    /** The address of a path that takes the method without the slash at its end; undefined for another one. */
    pathWithoutSlash(method: string, url: string): string | undefined
  }
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** A path with slashes at its end, the path without them, and the query. Two slashes at its beginning name a host. */
const SLASHED = /^((\/(?![/\\])[^?]*?)\/+)(\?.*)?$/s

/** Sends clients that end folders with a slash to the path without it, with the same method, body and query. */
export const trailingSlashes = fp(
  async (app: App) => {
    app.addHook('onRequest', (request, reply, done) => {
      const { basePath, method, server, url } = request
      // Browsers follow no redirect of a preflight.
      const bare = method === 'OPTIONS' ? undefined : app.pathWithoutSlash(method, url)
      if (bare === undefined) return done()
      reply.redirect(basePath + bare.slice(server.config.BASE_PATH.length), 308)
    })
  },
  { name: 'trailing-slashes', dependencies: ['base-path'] },
)

/** Answers 404 for unknown paths, and 405 with `Allow` for wrong methods, without a token or a body. */
export const unknownPaths = fp(
  async (app: App) => {
    const routes: { path: RegExp; methods: string[] }[] = []
    /** Paths that are written with a slash at their end. */
    const slashed = new Set<string>()
    app.addHook('onRoute', ({ url, method, routePath, prefix, prefixTrailingSlash = 'both' }) => {
      // A route at a prefix has a path with a slash too.
      const isBoth = routePath === '' && prefix !== '' && prefixTrailingSlash === 'both'
      const paths = isBoth ? [url, `${url}/`] : [url]
      // The route of preflights.
      if (url === '*') return
      for (const path of paths) routes.push({ path: createPattern(path), methods: [method].flat() })
      if (url.endsWith('/')) slashed.add(url)
    })

    app.decorate('methodsOf', (url: string) => {
      const path = url.split('?')[0] as string
      const taken = new Set(routes.filter((route) => route.path.test(path)).flatMap(({ methods }) => methods))
      if (taken.size > 0) taken.add('OPTIONS')
      return METHODS.filter((method) => taken.has(method))
    })

    app.decorate('pathWithoutSlash', (method: string, url: string) => {
      const [, path = '', bare = '', rest = ''] = SLASHED.exec(url) ?? []
      const isRoute = bare !== '' && !slashed.has(path) && app.methodsOf(bare).includes(method)
      return isRoute ? bare + rest : undefined
    })

    // The hook is for unknown paths alone.
    await app.register(async (unknown) => {
      unknown.addHook('onRequest', (request, _reply, done) => done(createRefusal(app, request)))
      unknown.setNotFoundHandler((request, reply) => reply.send(createRefusal(app, request)))
    })
  },
  { name: 'unknown-paths', dependencies: ['error-handler'] },
)

function createPattern(url: string): RegExp {
  const segments = url.split('/').map((segment) => {
    if (segment.startsWith(':')) return '[^/]+'
    return segment === '*' ? '.*' : segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  })
  return new RegExp(`^${segments.join('/')}$`)
}

function createRefusal(app: App, { method, url }: FastifyRequest): ApiError {
  const path = url.split('?')[0] as string
  const methods = app.methodsOf(path)
  // A route may lack a file.
  if (methods.length === 0 || methods.includes(method)) {
    return new ApiError('NOT_FOUND', `Path not found: ${method} ${path}. See ${BASE}/docs.`)
  }
  const named = methods.filter((name) => name !== 'HEAD' && name !== 'OPTIONS').join(', ')
  return new ApiError('METHOD_NOT_ALLOWED', `${path} does not take ${method}, but ${named}.`).withHeader(
    'allow',
    methods.join(', '),
  )
}

/** Crawlers may read the documents alone, since answers are endless. Its path has no prefix, as crawlers require. */
export const robots = fp(
  async (app: App) => {
    app.get(
      '/robots.txt',
      { config: { public: true, caching: 'asset' }, schema: { hide: true } },
      async (request, reply) => {
        const text = createRules(request.basePath)
        if (allowCaching(request, reply, entityTag(text))) return reply.code(304).send()
        return reply.type('text/plain; charset=utf-8').send(text)
      },
    )
  },
  { name: 'robots', dependencies: ['base-path', 'caching'] },
)

function createRules(base: string): string {
  const allowed = ['/docs', '/openapi.json', '/openapi.yaml'].map((path) => `Allow: ${base}${path}\n`)
  return `User-agent: *\n${allowed.join('')}Disallow: ${base}/\n`
}
