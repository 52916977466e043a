import type { FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import { ref } from '#schemas/common.ts'
import {
  defineReadiness,
  defineServiceLinks,
  Health,
  mapLinks,
  SERVICE_NAME,
  type ServiceLink,
} from '#schemas/service.ts'
import { ping } from '#src/data/sql.ts'
import { ApiError } from '#src/errors.ts'
import { type App, unlimitedErrorResponses } from '#src/http/app.ts'
import { DOCUMENT_PARTS } from '#src/http/openapi/document.ts'

interface ServiceOptions {
  /** Of extensions, by the names that `GET /` gives them. */
  links: Record<string, ServiceLink>
  /** The names of those that are on. */
  extensions: string[]
  readiness: readonly { schema: Record<string, TSchema>; read(app: App): object | Promise<object> }[]
}

function serviceRoutes(app: App, { links, extensions, readiness: members }: ServiceOptions): void {
  const Links = defineServiceLinks(links)
  const Readiness = defineReadiness(Object.assign({}, ...members.map(({ schema }) => schema)))
  for (const schema of [Links, Health, Readiness]) app.addSchema(schema)

  app.get(
    '/',
    {
      config: { public: true },
      schema: {
        operationId: 'getServiceLinks',
        summary: 'Links to the documentation and the catalog',
        description: 'The entry points of the service.',
        tags: ['service'],
        response: {
          200: {
            ...ref(Links),
            description: 'The links.',
            headers: {
              Vary: { type: 'string', description: '`Accept`: a browser is answered with a page.' },
            },
          },
          ...unlimitedErrorResponses(),
        },
      },
    },
    async (request, reply) => {
      if (app.frontPage(request.exchange)) return reply
      return { ...linksBelow(request.basePath, links), extensions }
    },
  )

  app.get(
    '/health/live',
    {
      config: { public: true, caching: 'never' },
      schema: {
        operationId: 'getLiveness',
        summary: 'Liveness of the process',
        description: 'For supervisors. The database is not asked.',
        tags: ['service'],
        response: {
          200: { ...ref(Health), description: 'The process runs.' },
          ...unlimitedErrorResponses(),
        },
      },
    },
    async () => ({ status: 'ok' as const }),
  )

  const asked = { config: { public: true, caching: 'never', onlyReads: true } } as const
  const readiness = async (request: FastifyRequest) => {
    if (app.draining) throw new ApiError('OVERLOADED', 'The service is stopping.')
    const parts = await request.exchange.wait(async () => {
      await ping(app.database.reader)
      return Promise.all(members.map(({ read }) => read(app)))
    })
    return Object.assign({ status: 'ok' }, replicaOf(app), ...parts)
  }
  app.get(
    '/health/ready',
    {
      ...asked,
      schema: {
        operationId: 'getReadiness',
        summary: 'Readiness for requests',
        description:
          'For load balancers: 503 while the database does not answer or the process stops. `demo` says that some of the synthetic data are still missing. `GET /health` answers the same.',
        tags: ['service'],
        response: {
          200: { ...ref(Readiness), description: 'Requests can be answered.' },
          ...unlimitedErrorResponses(),
        },
      },
    },
    readiness,
  )
  // Many ask here first.
  app.get('/health', { ...asked, schema: { hide: true } }, readiness)
}

function linksBelow(base: string, links: Record<string, ServiceLink>) {
  return {
    name: SERVICE_NAME,
    openapi: `${base}/openapi.json`,
    openapi_parts: Object.fromEntries(
      Object.keys(DOCUMENT_PARTS).map((part) => [part, `${base}/openapi/${part}.json`]),
    ),
    catalog: `${base}/catalog`,
    ...mapLinks(links, ({ path }) => base + path),
  }
}

/** Why a replica is not used is for operators: the log says it. */
function replicaOf({ database: { replica } }: App) {
  if (!replica) return {}
  const { name, lagMs } = replica.state()
  return { replica: { state: name, lag_ms: lagMs } }
}

/** The service itself: where to find what, and whether it is well. */
export async function service(app: App, options: ServiceOptions): Promise<void> {
  serviceRoutes(app, options)
  app.database.replica?.onChange(({ name, lagMs, reason }) => {
    const message = name === 'used' ? 'the replica is used again' : 'the replica is not used'
    app.log.warn({ replica: name, lagMs, reason }, message)
  })
}
