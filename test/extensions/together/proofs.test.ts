// Runs on either database: the history stores and gives JSON.
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { recorderOn, recordOf } from '#test/history/advisories.ts'
import { connectAgent } from '#test/setup/agents.ts'
import { call } from '#test/setup/calls.ts'
import { openService } from '#test/setup/open-service.ts'

const service = openService()

test('a proof of version 1.2.0 stays in the history, and out of how a cited answer is verified', async () => {
  const { app, person: by } = service
  const point = { lat: 9.5, lng: 38.5, crop: 'wheat', country_code: 'eth' }
  const current = await call(app, 'POST /advisory/fertilizer/point', { payload: point })
  const members = {
    request: { ...point, proof: true },
    answer: { ...current.body, proof: [{ release: current.body.release, merkle_root: 'x', pixels: [] }] },
  }
  const from = { product: 'fertilizer', releases: [current.body.release] }
  const id = await recorderOn(service.database.writer)(recordOf(by, { ...from, ...members }))
  expect((await call(app, `GET /history/${id}`, { by })).body).toMatchObject(members)

  const share = await call(app, `POST /history/${id}/share`, { by })
  const { verify, ...cited } = (await call(app, `GET /cite/${share.body.id}`)).body
  expect(cited).toMatchObject(members)
  const { headers, body: payload } = verify
  const again = await call(app, 'POST /advisory/fertilizer/point', { headers, payload })
  expect([again.status, createHash('sha256').update(again.text).digest('hex')]).toEqual([200, verify.sha256])
})

test('a tool refuses a wish for proofs with the sentence of HTTP, which says where to look', async () => {
  const agent = await connectAgent(await service.app.listen({ host: '127.0.0.1', port: 0 }), 2026)
  const point = { lat: 9.5, lng: 38.5, proof: true }
  const { body } = await service.post('/advisory/point', { payload: point })
  const { error, code, details } = body
  expect(error).toMatch(/^proof must be left out: .* as \/docs\/proof says\.$/)
  for (const tool of ['advise_point', 'explain_no_data']) {
    const { text, isError } = await agent.call(tool, point)
    expect([tool, isError, JSON.parse(text)]).toMatchObject([tool, true, { error, code, details }])
  }
  // With another mistake, both are told.
  const { text } = await agent.call('advise_point', { ...point, croop: 'teff' })
  expect(JSON.parse(text).details).toMatchObject([...details, { field: 'croop' }])
  await agent.close()
})
