import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { beforeEach, expect, test } from 'vitest'

type Answers = (path: string) => Response
type Kept = Map<string, Map<string, Response>>

/** What all services of the host keep in the browser, by the names of caches. */
let kept: Kept

beforeEach(() => {
  kept = new Map()
})

test.each([
  ['a file', '/web/'],
  ['a page', ''],
])('a worker is not installed with %s of another version', async (_, part) => {
  const isOther = (path: string) => (part === '' ? !path.includes('/web/') : path.includes(part))
  const worker = workerOf('/base', (path) => (isOther(path) ? first(path) : second(path)))
  await expect(worker.lives('install')).rejects.toThrow('another version')
})

const FILE = '/base/web/v2/shell/main.js'

const unreachable: Answers = () => {
  throw new TypeError('network')
}

test('a file of another version goes to the page that asks for it, and is not kept', async () => {
  let network = first
  const worker = workerOf('/base', (path) => network(path))
  expect(await worker.answers(FILE)).toBe('first')
  network = second
  expect(await worker.answers(FILE)).toBe('second')
  network = unreachable
  expect(await worker.answers(FILE)).toBe('second')
})

test('a worker deletes what its service kept before, and nothing of others on the same host', async () => {
  const others = [workerOf('', second), workerOf('/base/inner', second), workerOf('/other', second)]
  for (const other of others) await other.lives('install')
  const names = [...kept.keys()]
  const worker = workerOf('/base', second)
  await worker.lives('install')
  const own = [...kept.keys()].find((name) => !names.includes(name)) as string
  kept.set(own.replace('v2', 'v1'), new Map())
  await worker.lives('activate')
  expect([...kept.keys()]).toEqual([...names, own])
})

const WORKER = readFileSync(join(import.meta.dirname, '../../web/service-worker.js'), 'utf8')
const HOST = 'http://service.test'

/** A worker of the second version of a service, and what it does where `answers` is the network. */
function workerOf(base: string, answers: Answers) {
  const listeners = new Map<string, (event: object) => void>()
  const shell = {
    base,
    version: 'v2',
    pages: [`${base}/`],
    files: [`${base}/web/v2/shell/main.js`],
    answers: [`${base}/catalog`],
  }
  const pathOf = (request: string | Request) =>
    new URL(request instanceof Request ? request.url : request, HOST).pathname
  class HostRequest extends Request {
    constructor(path: string, init?: RequestInit) {
      super(new URL(path, HOST), init)
    }
  }
  runInNewContext(`const SHELL = ${JSON.stringify(shell)}\n${WORKER}`, {
    URL,
    Request: HostRequest,
    fetch: async (request: string | Request) => answers(pathOf(request)),
    caches: {
      keys: async () => [...kept.keys()],
      delete: async (name: string) => kept.delete(name),
      open: async (name: string) => {
        const cache = kept.get(name) ?? new Map<string, Response>()
        kept.set(name, cache)
        return {
          match: async (request: string | Request) => cache.get(pathOf(request))?.clone(),
          put: async (request: string | Request, answer: Response) => void cache.set(pathOf(request), answer),
        }
      },
    },
    self: {
      location: { origin: HOST },
      skipWaiting: async () => {},
      clients: { claim: async () => {} },
      addEventListener: (name: string, listener: (event: object) => void) => listeners.set(name, listener),
    },
  })
  return {
    async lives(phase: 'install' | 'activate') {
      let work: Promise<unknown> | undefined
      listeners.get(phase)?.({ waitUntil: (promise: Promise<unknown>) => (work = promise) })
      await work
    },
    async answers(path: string): Promise<string | undefined> {
      let answer: Promise<Response> | undefined
      const respondWith = (promise: Promise<Response>) => (answer = promise)
      listeners.get('fetch')?.({ request: new HostRequest(path), respondWith })
      return (await answer)?.text()
    },
  }
}

const second: Answers = (path) =>
  new Response(path.includes('/web/') ? 'second' : '<script src="web/v2/shell/main.js">')

/** A service of the first, which answers to the addresses of the second while they change places. */
const first: Answers = (path) =>
  new Response(path.includes('/web/') ? 'first' : '<script src="web/v1/shell/main.js">', {
    headers: { 'cache-control': 'no-cache' },
  })
