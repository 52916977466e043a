import { expect, test } from 'vitest'
import { collectionOf } from '#test/advice/polygons/ask.ts'
import { openService } from '#test/setup/open-service.ts'
import { rectangle } from '#test/setup/square.ts'

const service = openService()

const put = (payload: string) =>
  service.put('/fields/coop', {
    by: service.person,
    headers: { 'content-type': 'application/geo+json' },
    payload,
  })

test('a field is answered by its id, also after an upload of its collection that failed', async () => {
  const geometry = rectangle(38.5, 9.5, 38.501, 9.501)
  const body = JSON.stringify(collectionOf([{ type: 'Feature', id: 'UPI/1', geometry }]))
  expect((await put(body)).status).toBe(200)
  expect((await put(body.slice(0, -2))).body.code).toBe('MALFORMED_JSON')
  const ask = async (payload: object) =>
    (await service.post('/advisory/yield', { by: service.person, payload })).body
  const { history_id: _, ...drawn } = await ask({ geometry })
  const { history_id: __, ...saved } = await ask({ field: 'coop/UPI/1' })
  expect(saved).toEqual(drawn)
})
