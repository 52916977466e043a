import createClient from 'openapi-fetch'
import type { paths } from '../out/openapi-typescript/schema.ts'
import { ACCOUNT, BASE_URL, check, FEEDBACK, FIELD, POINT } from './journey.ts'

const open = createClient<paths>({ baseUrl: BASE_URL })
await open.POST('/auth/register', { body: ACCOUNT })
const { data: tokens } = await open.POST('/auth/login', {
  body: { email: ACCOUNT.email, password: ACCOUNT.password },
})
if (!tokens) throw new Error('nobody has logged in')

const client = createClient<paths>({
  baseUrl: BASE_URL,
  headers: { Authorization: `Bearer ${tokens.access_token}` },
})
const { data: point, error } = await client.POST('/advisory/yield/point', { body: POINT })
if (!point?.history_id) throw new Error(error?.error)
const { data: polygon } = await client.POST('/advisory/yield', {
  body: { geometry: { type: 'Polygon', coordinates: FIELD } },
})
const { data: batch } = await client.POST('/advisory/yield/points', {
  body: {
    points: [
      { id: 'A1', ...POINT },
      { id: 2, ...POINT },
    ],
  },
})
const { data: history } = await client.GET('/history/my')
const { data: feedback } = await client.POST('/history/{id}/feedback', {
  params: { path: { id: point.history_id } },
  body: FEEDBACK,
})
if (!polygon || !batch || !history || !feedback) throw new Error('an answer is missing')

check({
  tokenType: tokens.token_type,
  scenarios: point.yield_data.map(({ scenario }) => scenario),
  hectares: polygon.location.area_ha,
  ids: batch.items.map(({ id }) => id),
  kinds: history.items.map(({ kind }) => kind),
  rating: feedback.rating,
})
