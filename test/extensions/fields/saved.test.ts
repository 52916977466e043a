import { expect, test } from 'vitest'
import { fieldOf, keepFields } from '#test/setup/fields.ts'
import { openService } from '#test/setup/open-service.ts'

const service = openService()

test('a field is answered by its id, also after an upload of its collection that failed', async () => {
  const field = fieldOf('UPI/1')
  const { geometry } = field
  expect((await keepFields(service, 'coop', [field])).status).toBe(200)
  const cut = `{"type":"FeatureCollection","features":[${JSON.stringify(field)}`
  expect((await keepFields(service, 'coop', cut)).body.code).toBe('MALFORMED_JSON')
  const ask = async (payload: object) =>
    (await service.post('/advisory/yield', { by: service.person, payload })).body
  const { history_id: _, ...drawn } = await ask({ geometry })
  const { history_id: __, ...saved } = await ask({ field: 'coop/UPI/1' })
  expect(saved).toEqual(drawn)
})
