import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Agent, connectAgent } from '#test/setup/agents.ts'
import { openService } from '#test/setup/open-service.ts'

const service = openService()
let agent: Agent
beforeAll(async () => {
  agent = await connectAgent(await service.app.listen({ host: '127.0.0.1', port: 0 }), 2026)
})
afterAll(() => agent.close())

test('where_is says which areas have almost the name that was asked for', async () => {
  const { content } = await agent.call('where_is', { name: 'Addis Ababba' })
  expect(content.areas).toEqual([])
  expect((content.did_you_mean as object[])[0]).toMatchObject({ country_code: 'eth', name: 'Addis Ababa' })
})
