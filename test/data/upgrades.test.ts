import { describe, expect, test } from 'vitest'
import { buildApp } from '#src/app.ts'
import { migrate } from '#src/data/migrate.ts'
import { call } from '#test/setup/calls.ts'
import { scriptsUpTo } from '#test/setup/older-scripts.ts'
import { logIn } from '#test/setup/people.ts'
import {
  ANSWER,
  CHANGED,
  fill,
  HISTORY,
  inColumnsOf,
  KEY,
  LANDED,
  REFRESH_TOKEN,
  rowsOf,
  USER,
  withNewDatabase,
} from './older-schemas.ts'

// Runs on a server alone: migrations are the same on both.

describe('a database of a version that has landed', () => {
  test.each(LANDED)(
    'up to migration %i keeps all that it has, and answers as before',
    async (last, later) => {
      await withNewDatabase(async ({ config }, cluster) => {
        const maintenance = cluster.connectForMaintenance()
        await migrate(maintenance.writer, await scriptsUpTo(last, later))
        await fill(maintenance)
        const before = await rowsOf(maintenance)
        expect((await migrate(maintenance.writer, undefined, { lookMs: 0 })).length).toBeGreaterThanOrEqual(
          later.length,
        )
        const after = await rowsOf(maintenance)
        const { advisory_history: items, advisory_feedback: feedback, ...others } = before
        const rest = Object.fromEntries(Object.entries(others).filter(([table]) => !CHANGED.includes(table)))
        expect(inColumnsOf(rest, after)).toEqual(rest)
        const [{ item_id: id }] = after.history_former_id as [{ item_id: string }]
        const [item] = items as [{ created_at: string }]
        const { items: moved = [] } = inColumnsOf(
          { items: [{ ...item }] },
          { items: after.advisory_history ?? [] },
        )
        const { created_at: time } = moved[0] as { created_at: string }
        // Ids have milliseconds.
        expect(Date.parse(time)).toBe(Math.floor(Date.parse(item.created_at)))
        expect(moved).toEqual([{ ...item, id, created_at: time }])
        expect(after.advisory_feedback).toMatchObject([
          { rating: 4, observed: { yield_kg_ha: 3100.5 }, history_id: id },
        ])
        expect(feedback).toHaveLength(1)
        expect(after.history_size).toEqual([{ user_id: USER.id, items: 1, bytes: 100 }])
        expect(after.release_period).toMatchObject([{ published_to: null }])
        await maintenance.close()

        const database = cluster.connect()
        const app = await buildApp(config, database)
        const ask = (url: string, token: string) => call(app, `GET ${url}`, { by: token })
        const { access_token: token } = await logIn(app, USER.email)
        const payload = { refresh_token: REFRESH_TOKEN }
        expect((await call(app, 'POST /auth/refresh', { payload })).status).toBe(200)
        const found = await ask(`/history/${HISTORY}`, KEY)
        expect(found).toMatchObject({
          status: 200,
          body: {
            id,
            answer: JSON.parse(ANSWER),
            feedback: { rating: 4, comment: 'good', observed: { yield_kg_ha: 3100.5 } },
          },
        })
        expect((await ask('/stats', token)).body.advisories.total).toBe(1)
        expect(await ask('/advisory/yield/point?lat=9.5&lng=38.5&name=Point', token)).toMatchObject({
          status: 200,
          body: {
            release: 'yield-eth-wheat-2026-01-v1',
            yield_data: [{ scenario: 'Normal', yield_kg_ha: 2464.25 }],
          },
        })
        await app.close()
        await database.close()
      })
    },
  )
})
