import { client } from '../out/hey-api/client.gen'
import {
  giveFeedback,
  listHistory,
  login,
  register,
  yieldAtPoint,
  yieldAtPoints,
  yieldInPolygon,
} from '../out/hey-api/sdk.gen'
import { ACCOUNT, BASE_URL, check, FEEDBACK, FIELD, POINT } from './journey.ts'

client.setConfig({ baseUrl: BASE_URL })
await register({ body: ACCOUNT })
const { data: tokens } = await login({ body: { email: ACCOUNT.email, password: ACCOUNT.password } })
if (!tokens) throw new Error('nobody has logged in')

client.setConfig({ baseUrl: BASE_URL, auth: tokens.access_token })
const { data: point, error } = await yieldAtPoint({ body: POINT })
if (!point?.history_id) throw new Error(error?.error)
const { data: polygon } = await yieldInPolygon({
  body: { geometry: { type: 'Polygon', coordinates: FIELD } },
})
const { data: batch } = await yieldAtPoints({
  body: {
    points: [
      { id: 'A1', ...POINT },
      { id: 2, ...POINT },
    ],
  },
})
const { data: history } = await listHistory()
const { data: feedback } = await giveFeedback({ path: { id: point.history_id }, body: FEEDBACK })
if (!polygon || !batch || !history || !feedback) throw new Error('an answer is missing')

check({
  tokenType: tokens.token_type,
  scenarios: point.yield_data.map(({ scenario }) => scenario),
  hectares: polygon.location.area_ha,
  ids: batch.items.map(({ id }) => id),
  kinds: history.items.map(({ kind }) => kind),
  rating: feedback.rating,
})
