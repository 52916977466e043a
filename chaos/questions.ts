import type { Question } from './traffic.ts'

const POINT = { lat: 9.5, lng: 38.5, crop: 'wheat', country_code: 'eth' }
const POINTS = JSON.stringify({ points: Array.from({ length: 20 }, () => POINT) })

/** What is asked of a service with the demo: from memory, from the database, and what writes to it. */
export async function questionsOn(port: number): Promise<Question[]> {
  const authorization = `Bearer ${await newcomerAt(port)}`
  const unkept: Omit<Question, 'isRight'>[] = [
    { name: 'point', method: 'POST', path: '/advisory/yield/point', body: JSON.stringify(POINT) },
    { name: 'batch', method: 'POST', path: '/advisory/yield/points', body: POINTS },
    { name: 'areas', method: 'GET', path: '/admin?admin0=Ethiopia&level=1', headers: { authorization } },
  ]
  const questions = await Promise.all(
    unkept.map(async (question): Promise<Question> => {
      const expected = await answerTo(port, question)
      return { ...question, isRight: (status, text) => status === 200 && text === expected }
    }),
  )
  const [point] = questions as [Question]
  questions.push({
    ...point,
    name: 'kept point',
    headers: { authorization },
    isRight: (status, text) => status === 200 && JSON.parse(text).history_id !== undefined,
  })
  return questions
}

/** How many advisories the service has kept of whom a question comes from. */
export async function keptOf(port: number, { headers }: Question): Promise<number> {
  const stats = await answerTo(port, { method: 'GET', path: '/stats', headers })
  return JSON.parse(stats).advisories.total
}

/** The token of somebody who has just registered. */
async function newcomerAt(port: number): Promise<string> {
  const account = {
    email: `${crypto.randomUUID()}@example.org`,
    password: crypto.randomUUID(),
    name: 'Chaos',
  }
  const headers = { 'content-type': 'application/json' }
  for (const path of ['/auth/register', '/auth/login']) {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(account),
    })
    const body = (await answer.json()) as { access_token?: string }
    if (!answer.ok) throw new Error(`${path} was answered ${answer.status} ${JSON.stringify(body)}`)
    if (body.access_token) return body.access_token
  }
  throw new Error('the login gave no token')
}

async function answerTo(
  port: number,
  { method, path, headers, body }: Pick<Question, 'method' | 'path' | 'headers' | 'body'>,
): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    body,
    headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${path} was answered ${answer.status} ${text}`)
  return text
}
