import {
  giveFeedback,
  listHistory,
  login,
  register,
  yieldAtPoint,
  yieldAtPoints,
  yieldInPolygon,
} from '../out/orval/api'
import { ACCOUNT, check, FEEDBACK, FIELD, POINT } from './journey.ts'

await register(ACCOUNT)
const login200 = await login({ email: ACCOUNT.email, password: ACCOUNT.password })
if (login200.status !== 200) throw new Error(login200.data.error)

const tokens = login200.data
const asCaller = { headers: { Authorization: `Bearer ${tokens.access_token}` } }
const point = await yieldAtPoint(POINT, {}, asCaller)
if (point.status !== 200) throw new Error(point.data.error)
const polygon = await yieldInPolygon({ geometry: { type: 'Polygon', coordinates: FIELD } }, {}, asCaller)
if (polygon.status !== 200) throw new Error(polygon.data.error)
const points = [
  { id: 'A1', ...POINT },
  { id: 2, ...POINT },
]
const batch = await yieldAtPoints({ points }, {}, asCaller)
if (batch.status !== 200) throw new Error(batch.data.error)
const history = await listHistory({}, asCaller)
if (history.status !== 200) throw new Error(history.data.error)
const feedback = await giveFeedback(point.data.history_id ?? '', FEEDBACK, asCaller)
if (feedback.status !== 200) throw new Error(feedback.data.error)

check({
  tokenType: tokens.token_type,
  scenarios: point.data.yield_data.map(({ scenario }) => scenario),
  hectares: polygon.data.location.area_ha,
  ids: batch.data.items.map(({ id }) => id),
  kinds: history.data.items.map(({ kind }) => kind),
  rating: feedback.data.rating,
})
