import { Api } from '../out/swagger-typescript-api/api.ts'
import { ACCOUNT, BASE_URL, check, FEEDBACK, FIELD, POINT } from './journey.ts'

const api = new Api<string>({
  baseUrl: BASE_URL,
  securityWorker: (token) => (token === null ? {} : { headers: { Authorization: `Bearer ${token}` } }),
})
await api.auth.register(ACCOUNT)
const { data: tokens } = await api.auth.login({ email: ACCOUNT.email, password: ACCOUNT.password })

api.setSecurityData(tokens.access_token)
const { data: point } = await api.advisory.yieldAtPoint({}, POINT)
if (!point.history_id) throw new Error('the point is not in the history')
const { data: polygon } = await api.advisory.yieldInPolygon({
  geometry: { type: 'Polygon', coordinates: FIELD },
})
const { data: batch } = await api.advisory.yieldAtPoints({
  points: [
    { id: 'A1', ...POINT },
    { id: 2, ...POINT },
  ],
})
const { data: history } = await api.history.listHistory()
const { data: feedback } = await api.history.giveFeedback(point.history_id, FEEDBACK)

check({
  tokenType: tokens.token_type,
  scenarios: point.yield_data.map(({ scenario }) => scenario),
  hectares: polygon.location.area_ha,
  ids: batch.items.map(({ id }) => id),
  kinds: history.items.map(({ kind }) => kind),
  rating: feedback.rating,
})
