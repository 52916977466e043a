import { setConfig } from '@kubb/plugin-client/clients/axios'
import { giveFeedback } from '../out/kubb/clients/giveFeedback.ts'
import { listHistory } from '../out/kubb/clients/listHistory.ts'
import { login } from '../out/kubb/clients/login.ts'
import { register } from '../out/kubb/clients/register.ts'
import { yieldAtPoint } from '../out/kubb/clients/yieldAtPoint.ts'
import { yieldAtPoints } from '../out/kubb/clients/yieldAtPoints.ts'
import { yieldInPolygon } from '../out/kubb/clients/yieldInPolygon.ts'
import { ACCOUNT, check, FEEDBACK, FIELD, POINT } from './journey.ts'

await register(ACCOUNT)
const tokens = await login({ email: ACCOUNT.email, password: ACCOUNT.password })

setConfig({ headers: { Authorization: `Bearer ${tokens.access_token}` } })
const point = await yieldAtPoint(POINT)
const polygon = await yieldInPolygon({ geometry: { type: 'Polygon', coordinates: FIELD } })
const points = [
  { id: 'A1', ...POINT },
  { id: 2, ...POINT },
]
const batch = await yieldAtPoints({ points })
const history = await listHistory()
const feedback = await giveFeedback(point.history_id ?? '', FEEDBACK)

check({
  tokenType: tokens.token_type,
  scenarios: point.yield_data.map(({ scenario }) => scenario),
  hectares: polygon.location.area_ha,
  ids: batch.items.map(({ id }) => id),
  kinds: history.items.map(({ kind }) => kind),
  rating: feedback.rating,
})
