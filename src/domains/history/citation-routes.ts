import type { FastifyReply, FastifyRequest } from 'fastify'
import type { TObject } from 'typebox'
import { ref } from '#schemas/common.ts'
import { CitationPage, CitationParams } from '#schemas/sharing.ts'
import { ApiError, errorResponses } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { entityTag } from '#src/http/entity-tags.ts'
import { negotiate } from '#src/http/negotiation.ts'
import { allowCaching } from '#src/http/plugins/caching.ts'
import { citationOf, type StillTaken } from './citation.ts'
import { sendCitation } from './citation-page.ts'
import { findShared } from './share-queries.ts'
import { CITE_AS } from './share-routes.ts'

const MEDIA_TYPES = ['application/json', 'text/html'] as const

const NOTHING = 'Nothing is shared at this address, or not any more.'

/** What the ends of addresses look like. */
const TOKEN = /^[\w-]{24}$/

/** @param citation the schema of the answer */
export function citationRoute(app: App, citation: TObject, isTaken: StillTaken): void {
  // What is taken back is gone at once: a replica may be behind.
  const db = app.database.writer

  app.get(
    '/cite/:id',
    {
      config: { public: true, caching: 'own' },
      schema: {
        operationId: 'getCitation',
        summary: 'Get a shared advisory',
        description:
          'A shared advisory: the request, the answer, its releases, and the way to verify it. Browsers get a page. Search engines are asked to leave it out.',
        tags: ['history'],
        params: CitationParams,
        response: {
          200: {
            description: 'The shared advisory.',
            headers: {
              Link: CITE_AS,
              'X-Robots-Tag': { type: 'string', description: '`noindex`, for search engines.' },
            },
            content: {
              'application/json': { schema: ref(citation) },
              'text/html': { schema: ref(CitationPage) },
            },
          },
          304: { type: 'null', description: 'It is as `If-None-Match` names it.' },
          ...errorResponses('NOT_FOUND', 'NOT_ACCEPTABLE'),
        },
      },
    },
    async (request: FastifyRequest<{ Params: { id: string } }>, reply: FastifyReply) => {
      const form = negotiate(request, reply, MEDIA_TYPES)
      const { id } = request.params
      const shared = TOKEN.test(id) ? await findShared(db, id) : undefined
      if (!shared) throw new ApiError('NOT_FOUND', NOTHING)
      const cited = citationOf(shared, request.rootUrl, app.products, await isTaken(shared))
      if (allowCaching(request, reply, entityTag(form, JSON.stringify(cited)))) return reply.code(304).send()
      reply.header('link', `<${cited.url}>; rel="cite-as"`).header('x-robots-tag', 'noindex')
      return form === 'text/html' ? sendCitation(reply, cited) : cited
    },
  )
}
