import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { findDocumentation } from '#src/config.ts'
import { ApiError, BASE } from '#src/errors.ts'
import { slipBetween } from '#src/lib/names.ts'
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
    const paths = new Set<string>()
    /** Paths that are written with a slash at their end. */
    const slashed = new Set<string>()
    app.addHook('onRoute', ({ url, method, routePath, prefix, prefixTrailingSlash = 'both' }) => {
      // A route at a prefix has a path with a slash too.
      const isBoth = routePath === '' && prefix !== '' && prefixTrailingSlash === 'both'
      const written = isBoth ? [url, `${url}/`] : [url]
      // The route of preflights.
      if (url === '*') return
      if (!/[*/]$/.test(url)) paths.add(url.slice(app.config.BASE_PATH.length))
      for (const path of written) routes.push({ path: createPattern(path), methods: [method].flat() })
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
      unknown.addHook('onRequest', (request, _reply, done) => {
        const refusal = createRefusal(app, request, paths)
        if (refusal.code !== 'NOT_FOUND' || !app.missingPage(request.exchange)) done(refusal)
      })
      unknown.setNotFoundHandler((request, reply) => reply.send(createRefusal(app, request, paths)))
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

function createRefusal(app: App, { method, url }: FastifyRequest, paths: Iterable<string>): ApiError {
  const path = url.split('?')[0] as string
  const methods = app.methodsOf(path)
  // A route may lack a file.
  if (methods.length === 0 || methods.includes(method)) {
    const base = app.config.BASE_PATH
    const near = findNearPaths(path.startsWith(`${base}/`) ? path.slice(base.length) : path, paths)
    const meant = near.length > 0 ? ` Did you mean ${near.map((one) => BASE + one).join(' or ')}?` : ''
    return new ApiError(
      'NOT_FOUND',
      `Path not found: ${method} ${path}.${meant} See ${BASE}${findDocumentation(app.config) ?? '/openapi.json'}.`,
    )
  }
  const named = methods.filter((name) => name !== 'HEAD' && name !== 'OPTIONS').join(', ')
  return new ApiError('METHOD_NOT_ALLOWED', `${path} does not take ${method}, but ${named}.`).withHeader(
    'allow',
    methods.join(', '),
  )
}

/** Longer paths are made up. */
const MOST_SEGMENTS = 8
const LONGEST_PATH = 120

/** Segments that may be left out, too many or misspelt. */
const MOST_MISTAKES = 2

const MOST_NEAR = 3

/** The routes that differ least from an unknown path, with a segment of it at least; none where it is too far from all. */
function findNearPaths(path: string, paths: Iterable<string>): string[] {
  const sent = path.toLowerCase().split('/').filter(Boolean)
  if (sent.length === 0 || sent.length > MOST_SEGMENTS || path.length > LONGEST_PATH) return []
  let least = MOST_MISTAKES
  let near: string[] = []
  for (const route of paths) {
    const distance = countMistakes(sent, route.split('/').filter(Boolean))
    if (distance > least) continue
    if (distance < least) near = []
    least = distance
    near.push(route)
  }
  return near.slice(0, MOST_NEAR)
}

/** The edit distance of two paths by segments; infinity where none is common. A parameter stands for any segment. */
function countMistakes(sent: string[], route: string[]): number {
  const names = route.filter((segment) => !segment.startsWith(':'))
  if (Math.abs(sent.length - route.length) > MOST_MISTAKES) return Number.POSITIVE_INFINITY
  if (!sent.some((one) => names.some((name) => readDistance(one, name) < 1))) return Number.POSITIVE_INFINITY
  let last = Array.from({ length: route.length + 1 }, (_, column) => column)
  sent.forEach((one, row) => {
    const current = [row + 1]
    route.forEach((name, column) => {
      const replaced = (last[column] as number) + readDistance(one, name)
      current.push(Math.min(replaced, (last[column + 1] as number) + 1, (current[column] as number) + 1))
    })
    last = current
  })
  return last[route.length] as number
}

/** Of two segments: 0 for the same one, less than 1 for a slip, and beyond all limits for others. */
function readDistance(sent: string, name: string): number {
  if (sent === name.toLowerCase()) return 0
  // Ids have digits, and words are rather misspelt names.
  if (name.startsWith(':')) return /\d/.test(sent) ? 0.25 : MOST_MISTAKES
  const slip = slipBetween(sent, name.toLowerCase())
  return slip === Number.POSITIVE_INFINITY ? slip : slip / LONGEST_PATH
}

/** Crawlers may read the documents alone, since answers are endless. Its path has no prefix, as crawlers require. */
export const robots = fp(
  async (app: App) => {
    app.get(
      '/robots.txt',
      { config: { public: true, caching: 'asset' }, schema: { hide: true } },
      async (request, reply) => {
        const { basePath } = request
        const paths = [findDocumentation(app.config) ?? [], '/openapi.json', '/openapi.yaml'].flat()
        const allowed = paths.map((path) => `Allow: ${basePath}${path}\n`)
        const text = `User-agent: *\n${allowed.join('')}Disallow: ${basePath}/\n`
        if (allowCaching(request.exchange, entityTag(text))) return reply.code(304).send()
        return reply.type('text/plain; charset=utf-8').send(text)
      },
    )
  },
  { name: 'robots', dependencies: ['base-path', 'caching'] },
)
