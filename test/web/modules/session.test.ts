import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { UserProfile } from '#schemas/user.ts'
import { createSession } from '../../../web/parts/session.ts'

const USER = { id: '1', name: 'Amina', role: 'user' } as UserProfile

/** A service that gives tokens with numbers, and knows which of them are valid. */
let valid: { access: string; refresh: string }
let asked: string[]
let stored: Map<string, string>
let announced: (UserProfile | null)[]

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] })
  vi.stubGlobal('document', { baseURI: 'http://service.test/base/' })
  valid = { access: 'none', refresh: 'none' }
  asked = []
  stored = new Map()
  announced = []
  let count = 0
  const tokens = () => {
    valid = { access: `a${++count}`, refresh: `r${count}` }
    return { access_token: valid.access, expires_in: 900, refresh_token: valid.refresh, user: USER }
  }
  vi.stubGlobal('fetch', async (address: URL, init: RequestInit) => {
    const path = address.pathname
    const token = new Headers(init.headers).get('authorization')
    asked.push(token ? `${path} ${token}` : path)
    if (path === '/base/auth/login') return Response.json(tokens())
    const sent = path === '/base/auth/refresh' && JSON.parse(String(init.body)).refresh_token
    if (sent ? sent === valid.refresh : token === `Bearer ${valid.access}`) {
      return Response.json(sent ? tokens() : { path })
    }
    return Response.json({ error: 'No.', code: 'UNAUTHORIZED' }, { status: 401 })
  })
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

const LOGIN = { email: 'amina@example.org', password: 'teff grows at dawn' }

test('a token that is about to end is changed once, for all who ask at that moment', async () => {
  const session = open()
  await session.login(LOGIN)
  vi.setSystemTime(Date.now() + 880_000)
  await Promise.all([session.get('one'), session.get('two')])
  expect(asked.slice(1)).toEqual(['/base/auth/refresh', '/base/one Bearer a2', '/base/two Bearer a2'])
  expect(announced).toEqual([USER])
})

test('a token that is refused is changed, and the request sent again', async () => {
  const session = open()
  await session.login(LOGIN)
  valid.access = 'of another process'
  expect(await session.get('one')).toEqual({ path: '/base/one' })
  expect(asked.slice(1)).toEqual(['/base/one Bearer a1', '/base/auth/refresh', '/base/one Bearer a2'])
})

test('where the session has ended, nobody is logged in, and nothing is left of it', async () => {
  const session = open()
  await session.login(LOGIN)
  valid = { access: 'ended', refresh: 'ended' }
  await expect(session.get('one')).rejects.toThrow('No.')
  expect([session.user(), stored.size, announced]).toEqual([null, 0, [USER, null]])
})

test('a service that cannot be reached ends no session', async () => {
  const session = open()
  await session.login(LOGIN)
  vi.stubGlobal('fetch', async () => Promise.reject(new TypeError('network')))
  vi.setSystemTime(Date.now() + 880_000)
  await expect(session.get('one')).rejects.toMatchObject({ status: 0 })
  expect([session.user(), stored.get('agro.refresh')]).toEqual([USER, 'r1'])
})

test('a logout forgets the tokens, also where the service does not answer', async () => {
  const session = open()
  await session.login(LOGIN)
  vi.stubGlobal('fetch', async () => Promise.reject(new TypeError('network')))
  await expect(session.logout()).rejects.toMatchObject({ status: 0 })
  expect([session.user(), stored.size]).toEqual([null, 0])
})

test('a text is told in pieces as it comes, and is given whole', async () => {
  const pieces = ['{"id":"1', '"}\n{"id":', '"2"}\n']
  vi.stubGlobal('fetch', async () => {
    const body = new ReadableStream({
      start(controller) {
        for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece))
        controller.close()
      },
    })
    return new Response(body, { headers: { 'content-type': 'application/x-ndjson' } })
  })
  const told: string[] = []
  const text = await open().send('lines', {}, { onText: (piece) => void told.push(piece) })
  expect([told, text]).toEqual([pieces, pieces.join('')])
})

function open() {
  const storage = {
    getItem: (name: string) => stored.get(name) ?? null,
    setItem: (name: string, value: string) => void stored.set(name, value),
    removeItem: (name: string) => void stored.delete(name),
  }
  return createSession(storage, (user) => announced.push(user))
}
