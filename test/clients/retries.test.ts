import { afterEach, expect, test, vi } from 'vitest'
import { createAdvisoryClient, type Point } from '../../clients/typescript/src/index.ts'

afterEach(() => {
  vi.useRealTimers()
})

const POINTS: Point[] = ['a', 'b', 'c'].map((id) => ({ id, lat: 9, lng: 38 }))

test('a busy service and a lost answer are asked again under one key', async () => {
  passTime()
  const { client, requests } = scripted([refused, broken, () => Response.json({ release: 'r' })], 30_000)
  expect(await client.point('yield', { lat: 9, lng: 38 })).toEqual({ release: 'r' })
  expect(requests[0]?.key).toMatch(/^[0-9a-f]{32}$/)
  expect(requests).toEqual([requests[0], requests[0], requests[0]])
})

test('an answer for one place that was cut off is asked for again under one key', async () => {
  passTime()
  const { client, requests } = scripted([cutAfter(), () => Response.json({ release: 'r' })], 30_000)
  expect(await client.point('yield', { lat: 9, lng: 38 })).toEqual({ release: 'r' })
  expect(requests).toEqual([requests[0], requests[0]])
  const { client: unlucky } = scripted([cutAfter(), cutAfter(), cutAfter()], 30_000)
  const error = { status: 0, code: 'INCOMPLETE_ANSWER', cause: new TypeError('terminated') }
  await expect(unlucky.polygon('yield', {} as never)).rejects.toMatchObject(error)
})

test('after the last attempt the error is what the service said', async () => {
  const { client, requests } = scripted([refused, refused, refused])
  const error = {
    status: 503,
    code: 'OVERLOADED',
    requestId: 'r1',
    message: 'The service is busy.',
    retryAfter: 0,
  }
  await expect(client.point('yield', { lat: 9, lng: 38 })).rejects.toMatchObject(error)
  expect(requests).toHaveLength(3)
})

test('a wait that is too long is not waited for', async () => {
  const throttled = () =>
    Response.json(
      { error: 'Wait.', code: 'TOO_MANY_REQUESTS' },
      { status: 429, headers: { 'retry-after': '900' } },
    )
  const { client, requests } = scripted([throttled])
  const error = { status: 429, code: 'TOO_MANY_REQUESTS', retryAfter: 900 }
  await expect(client.point('yield', { lat: 9, lng: 38 })).rejects.toMatchObject(error)
  expect(requests).toHaveLength(1)
  const { client: alone, requests: lost } = scripted([broken])
  await expect(alone.point('yield', { lat: 9, lng: 38 })).rejects.toMatchObject({ code: 'NETWORK_ERROR' })
  expect(lost).toHaveLength(1)
})

test('what is not the service is an error, too', async () => {
  const page = () => new Response('<h1>Bad gateway</h1>', { status: 502 })
  const { client } = scripted([page])
  const error = { status: 502, code: 'UNKNOWN_ERROR', message: 'The answer has the status 502.' }
  await expect(client.point('yield', { lat: 9, lng: 38 })).rejects.toMatchObject(error)
  passTime()
  const { client: alone, requests } = scripted([broken, broken, broken], 30_000)
  await expect(alone.point('yield', { lat: 9, lng: 38 })).rejects.toMatchObject({ code: 'NETWORK_ERROR' })
  expect(requests).toHaveLength(3)
})

test('what is missing of a cut answer is asked for again', async () => {
  const { client, requests } = scripted([cutAfter({ id: 'a' }), lines({ id: 'b' }), lines({ id: 'c' })])
  expect(await idsOf(client.points('yield', POINTS))).toEqual(['a', 'b', 'c'])
  expect(requests.map(({ body }) => body.split('\n').length)).toEqual([3, 2, 1])
})

test('an answer that never gets on is an error', async () => {
  const { client, requests } = scripted([cutAfter({ id: 'a' }), cutAfter(), cutAfter()])
  const answers = client.points('yield', POINTS)
  expect((await answers.next()).value).toEqual({ id: 'a' })
  await expect(answers.next()).rejects.toMatchObject({ status: 0, code: 'INCOMPLETE_ANSWER' })
  expect(requests).toHaveLength(3)
})

test('the item that stands for the rest is none, and one in the middle is', async () => {
  const fault = { error: 'The database is away.', code: 'DATABASE_UNAVAILABLE' }
  const own = { error: 'The service is busy.', code: 'OVERLOADED' }
  const { client, requests } = scripted([lines({ id: 'a' }, own, fault), lines({ id: 'c' })])
  const items = []
  for await (const item of client.points('yield', POINTS)) items.push(item)
  expect(items).toEqual([{ id: 'a' }, own, { id: 'c' }])
  expect(requests).toHaveLength(2)
})

test('areas that were answered before a cut are answered once', async () => {
  const { client } = scripted([
    cutAfter({ id: 'A' }, { id: 'B' }),
    lines({ id: 'A' }, { id: 'B' }, { id: 'C' }),
  ])
  expect(await idsOf(client.areas('yield', { country_code: 'eth', level: 1 }))).toEqual(['A', 'B', 'C'])
})

const BUSY = { status: 503, headers: { 'retry-after': '0' } }

/** A service that answers with what it is given, one after the other. */
function scripted(answers: (() => Response)[], maxWaitMs = 1) {
  const requests: { key: string | null; body: string }[] = []
  const client = createAdvisoryClient({
    baseUrl: 'http://service.test',
    retries: 2,
    maxWaitMs,
    fetch: async (request) => {
      requests.push({ key: request.headers.get('idempotency-key'), body: await request.text() })
      const answer = answers[requests.length - 1]
      if (!answer) throw new Error('nothing more is answered')
      return answer()
    },
  })
  return { client, requests }
}

const refused = () =>
  Response.json({ error: 'The service is busy.', code: 'OVERLOADED', request_id: 'r1' }, BUSY)

const broken = () => {
  throw new TypeError('fetch failed')
}

/** Lines, and then the connection breaks. */
function cutAfter(...items: object[]): () => Response {
  const text = items.map((item) => `${JSON.stringify(item)}\n`).join('')
  return () => {
    const pieces = [text, '{"id":']
    const body = new ReadableStream({
      pull(controller) {
        const piece = pieces.shift()
        if (piece === undefined) controller.error(new TypeError('terminated'))
        else controller.enqueue(new TextEncoder().encode(piece))
      },
    })
    return new Response(body)
  }
}

function lines(...items: object[]): () => Response {
  return () => new Response(items.map((item) => `${JSON.stringify(item)}\n`).join(''))
}

/** Has timers be over as soon as nothing else is to be done. */
function passTime() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  vi.setTimerTickMode('nextTimerAsync')
}

async function idsOf(items: AsyncIterable<{ id?: unknown }>): Promise<unknown[]> {
  const ids = []
  for await (const { id } of items) ids.push(id)
  return ids
}
