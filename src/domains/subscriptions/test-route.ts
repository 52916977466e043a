import { randomUUID } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import type { Static } from 'typebox'
import { ref } from '#schemas/common.ts'
import { WebhookTest } from '#schemas/webhook-test.ts'
import { BODY_ERRORS, errorResponses } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { untilGone } from '#src/http/deadline.ts'
import { callerOf } from '#src/http/plugins/authentication.ts'
import type { OutwardRules } from '#src/lib/outward-post.ts'
import { existing, type SubscriptionById, SubscriptionParams } from './answer.ts'
import { type Answered, isArrival, send } from './deliver.ts'
import { messageOf } from './message.ts'
import type { AdmitTest } from './queries.ts'
import type { SecretSeal } from './secrets.ts'
import { findSubscription, findTarget, type SubscriptionRow } from './subscription-queries.ts'

interface TestDesk {
  rules: OutwardRules
  seal: SecretSeal
  admitTest: AdmitTest
}

/** Sends a message to a subscriber while its owner waits: it has no place in the deliveries, and is not tried again. */
export function testRoute(app: App, { rules, seal, admitTest }: TestDesk) {
  const { writer } = app.database

  function messageFor(id: string, { values, ...row }: SubscriptionRow): string {
    const { product, country_code, crop, release, threshold } = row
    const told = {
      ...row,
      series: { product, countryCode: country_code, cropCode: crop },
      thresholdKind: threshold.kind,
      threshold: threshold.value,
      before: release,
      after: release,
    }
    const changes = values.map(({ input, scenario, value }) => {
      return {
        input,
        scenario,
        before: value,
        after: value,
        change: 0,
        change_percent: value === 0 ? null : 0,
      }
    })
    const { BASE_PATH: basePath } = app.config
    return messageOf(id, told, app.products.of(product), changes, { basePath, time: new Date(), test: true })
  }

  return {
    method: 'POST',
    url: '/subscriptions/:id/test',
    config: { scope: 'account', caching: 'never', ownTurns: true },
    schema: {
      operationId: 'testSubscription',
      summary: 'Send a test message to a subscriber',
      description:
        'Posts the values that were told last, as a change by 0 with `data.test` true, signed as every message is. The answer says what the target has answered. The subscription stays as it is, and nothing is sent again. An account may send two at once, then one every 10 seconds.',
      tags: ['subscriptions'],
      params: SubscriptionParams,
      response: {
        200: { ...ref(WebhookTest), description: 'The result.' },
        ...errorResponses(
          'UNAUTHORIZED',
          'INSUFFICIENT_SCOPE',
          'NOT_FOUND',
          'TOO_MANY_REQUESTS',
          ...BODY_ERRORS,
        ),
      },
    },
    handler: async (request: SubscriptionById, reply: FastifyReply) => {
      const { id: userId } = callerOf(request)
      const { row, target } = await app.inTurn(request, reply, async () => {
        const { id } = request.params
        const row = existing(await findSubscription(writer, userId, id))
        const target = existing(await findTarget(writer, userId, id))
        await admitTest(userId, new URL(target.url).host)
        return { row, target }
      })
      const id = randomUUID()
      const message = { id, userId, body: messageFor(id, row), ...target }
      return outcomeOf(id, await send(message, { seal, rules, signal: untilGone(reply) }))
    },
  } as const
}

function outcomeOf(id: string, answered: Answered): Static<typeof WebhookTest> {
  if (answered === 'secret lost') return { id, outcome: 'secret_lost', status: null }
  if (answered === 'unanswered') return { id, outcome: 'unanswered', status: null }
  return { id, outcome: isArrival(answered) ? 'delivered' : 'refused', status: answered }
}
