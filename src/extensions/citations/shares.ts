import { randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { ref } from '#schemas/common.ts'
import { ItemParams } from '#schemas/history.ts'
import { findLimits } from '#src/accounts/user-queries.ts'
import { inTransaction } from '#src/data/sql.ts'
import { requireFound } from '#src/errors.ts'
import { requireItem } from '#src/history/queries.ts'
import { type App, errorResponses, noContent } from '#src/http/app.ts'
import { requireCaller } from '#src/http/caller.ts'
import type { Exchange } from '#src/http/exchange.ts'
import { deleteShare, findShare, insertShare, type ShareRow } from './queries.ts'
import { Share } from './schemas.ts'

type ItemRequest = FastifyRequest<{ Params: Static<typeof ItemParams> }>

/** @param root of the service's addresses, without a slash at the end */
export function citationUrl(root: string, token: string): string {
  return `${root}/cite/${token}`
}

/** 144 bits cannot be guessed. */
const TOKEN_BYTES = 18

export const CITE_AS = {
  type: 'string',
  description: 'Where it is shown to everybody who knows the address (`rel="cite-as"`).',
}

export async function shares(app: App): Promise<void> {
  // A replica may be behind, and new ids must work at once.
  const db = app.database.writer
  const limits = findLimits('history_share', app.config)
  const common = { url: '/:id/share', config: { scope: 'history', caching: 'never' } } as const
  const described = { tags: ['history'], params: ItemParams }
  const success = { ...ref(Share), description: SHOWN, headers: { Link: CITE_AS } }

  app.route({
    ...common,
    method: 'POST',
    schema: {
      operationId: 'shareHistoryItem',
      summary: 'Share an item of your history',
      description:
        'Publishes the request and the answer, with the label and the place, at an address that cannot be guessed. The person is not named. Sharing ends with `DELETE`, with the item and with the account. A repetition gets the same address.',
      ...described,
      response: { 200: success, ...errorResponses(...limits.codes, 'NOT_FOUND') },
    },
    handler: async (request: ItemRequest) => {
      const token = randomBytes(TOKEN_BYTES).toString('base64url')
      const { id } = requireCaller(request)
      const share = await inTransaction(db, (trx) =>
        limits.add(trx, id, () => insertShare(trx, id, request.params.id, token)),
      )
      return describeShare(requireItem(share), request.exchange)
    },
  })

  app.route({
    ...common,
    method: 'GET',
    schema: {
      operationId: 'getShare',
      summary: 'Get the address of a shared item',
      description: 'The answer of `POST`.',
      ...described,
      response: { 200: success, ...errorResponses('NOT_FOUND') },
    },
    handler: async (request: ItemRequest) => {
      const share = await findShare(db, requireCaller(request).id, request.params.id)
      return describeShare(requireFound(share, NOT_SHARED), request.exchange)
    },
  })

  app.route({
    ...common,
    method: 'DELETE',
    schema: {
      operationId: 'unshareHistoryItem',
      summary: 'Stop sharing an item',
      description: 'Its address shows nothing from then on, and is never given to anything else.',
      ...described,
      response: noContent('The item is no longer shared.', 'NOT_FOUND'),
    },
    handler: async (request: ItemRequest, reply: FastifyReply) => {
      requireFound(await deleteShare(db, requireCaller(request).id, request.params.id), NOT_SHARED)
      return reply.code(204).send()
    },
  })
}

const SHOWN = 'Where it is shown.'
const NOT_SHARED = 'Nothing with this id in your history is shared.'

function describeShare({ token, shared_at }: ShareRow, { request, reply }: Exchange) {
  const url = citationUrl(request.rootUrl, token)
  reply.header('link', `<${url}>; rel="cite-as"`)
  return { id: token, url, shared_at }
}
