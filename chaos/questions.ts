import { ask, type Client, join } from '#bench/load/client.ts'
import type { Question } from './traffic.ts'

const POINT = { lat: 9.5, lng: 38.5, crop: 'wheat', country_code: 'eth' }
const POINTS = { points: Array.from({ length: 20 }, () => POINT) }

/** What is asked of a service with the demo: from memory, from the database, and what writes to it. */
export async function questionsOn(port: number): Promise<Question[]> {
  const { token } = await join({ port })
  const point = { path: '/advisory/yield/point', body: POINT }
  const unkept: Omit<Question, 'isRight'>[] = [
    { name: 'point', ...point },
    { name: 'batch', path: '/advisory/yield/points', body: POINTS },
    { name: 'areas', method: 'GET', path: '/admin?admin0=Ethiopia&level=1', token },
  ]
  const questions = await Promise.all(
    unkept.map(async ({ name, token, ...sent }): Promise<Question> => {
      const expected = await ask({ port, token }, sent)
      if (expected.status !== 200) throw new Error(`${sent.path} was answered ${expected.status}`)
      return { name, token, ...sent, isRight: (status, body) => status === 200 && body === expected.body }
    }),
  )
  const isRight = (status: number, body: string) => status === 200 && /"history_id":"/.test(body)
  return [...questions, { name: 'kept point', ...point, token, isRight }]
}

/** How many advisories the service has kept of a client. */
export async function keptOf(client: Client): Promise<number> {
  const { body } = await ask(client, { method: 'GET', path: '/stats' })
  return JSON.parse(body).advisories.total
}
