import type { ErrorBody } from '#schemas/common.ts'
import type { Catalog, Readiness } from '../api-types.ts'
import { TEXTS } from '../texts/en.ts'

/** Null and undefined are left out. */
export type Query = Record<string, string | number | null | undefined>

/** An error of the service; `code` is for programs, the message for people. */
export class ApiFailure extends Error {
  /** 0 without an answer. */
  declare readonly status: number
  declare readonly code: string
  declare readonly details: NonNullable<ErrorBody['details']>
  /** Seconds to wait, where the service says so. */
  declare readonly retryAfter: number

  constructor(status: number, body: Partial<ErrorBody>, retryAfter = 0) {
    super(body.error ?? TEXTS.unreachable)
    this.status = status
    this.code = body.code ?? 'UNREACHABLE'
    this.details = body.details ?? []
    this.retryAfter = retryAfter
  }
}

/**
 * The address of a path of the API, wherever the service lies.
 *
 * @param path without a slash in front
 */
export function addressOf(path: string, query: Query = {}) {
  const address = new URL(path, document.baseURI)
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined) address.searchParams.set(name, String(value))
  }
  return address
}

export type Init = RequestInit & {
  /** Told the pieces of a text as they come, one after the other. */
  onText?: (piece: string) => void | Promise<void>
  /** Told how many bytes of the body are sent. */
  onSent?: (bytes: number) => void
  /** Whether the answer is a file to save, which is not read. */
  asFile?: boolean
}

/**
 * Asks the service: for what is only read again and again, as long as it is busy.
 *
 * @returns the body: parsed, where it is JSON
 * @throws {ApiFailure}
 */
export function ask<Answer>(address: URL, init: Init = {}): Promise<Answer> {
  const { method = 'GET', signal } = init
  return method === 'GET' ? whileBusy(() => askOnce<Answer>(address, init), signal) : askOnce(address, init)
}

async function askOnce<Answer>(address: URL, { onText, onSent, asFile, ...init }: Init): Promise<Answer> {
  const headers = new Headers(init.headers)
  if (!headers.has('accept')) headers.set('accept', 'application/json, application/geo+json')
  const request = { ...init, headers }
  const answered = onSent ? sendCounted(address, request, onSent) : fetch(address, request)
  const response = await answered.catch(unanswered)
  if (asFile && response.ok) return (await response.blob().catch(unanswered)) as Answer
  const isJson = /[/+]json/.test(response.headers.get('content-type') ?? '')
  const body = isJson ? await response.json() : await textOf(response, onText)
  if (!response.ok) {
    const retryAfter = Number(response.headers.get('retry-after')) || 0
    throw new ApiFailure(response.status, isJson ? body : {}, retryAfter)
  }
  return body
}

/** Nothing has come, or not all of it, unless it is not wanted any more. */
function unanswered(error: unknown): never {
  if (error instanceof DOMException && error.name === 'AbortError') throw error
  throw new ApiFailure(0, {})
}

/** Sends a body as `fetch` does, which cannot tell how much of it is sent. */
function sendCounted(
  address: URL,
  { method = 'GET', headers, body, signal }: RequestInit,
  onSent: (bytes: number) => void,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open(method, address)
    for (const [name, value] of new Headers(headers)) request.setRequestHeader(name, value)
    request.responseType = 'blob'
    request.upload.addEventListener('progress', ({ loaded }) => onSent(loaded))
    request.addEventListener('load', () => {
      const retryAfter = request.getResponseHeader('retry-after')
      const told = new Headers({ 'content-type': request.getResponseHeader('content-type') ?? '' })
      if (retryAfter !== null) told.set('retry-after', retryAfter)
      resolve(new Response(request.response, { status: request.status, headers: told }))
    })
    request.addEventListener('error', () => reject(new TypeError('no answer')))
    request.addEventListener('abort', () => reject(new DOMException('given up', 'AbortError')))
    signal?.addEventListener('abort', () => request.abort())
    request.send(body as XMLHttpRequestBodyInit)
  })
}

async function textOf(response: Response, onText: Init['onText']) {
  if (!onText || !response.body) return response.text()
  let text = ''
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  const next = () => reader.read().catch(unanswered)
  for (let piece = await next(); !piece.done; piece = await next()) {
    await onText(piece.value)
    text += piece.value
  }
  return text
}

export const get = <Answer>(path: string, query?: Query, init?: RequestInit) =>
  ask<Answer>(addressOf(path, query), init)

/**
 * Sends a body of JSON.
 *
 * @param init with another `method` than POST, or a token in `headers`
 */
export function send<Answer>(path: string, body: unknown, init: RequestInit = {}) {
  const headers = new Headers(init.headers)
  headers.set('content-type', 'application/json')
  return ask<Answer>(addressOf(path), { method: 'POST', ...init, headers, body: JSON.stringify(body) })
}

/** How often what is refused for now is asked again. */
const ATTEMPTS = 5

/** Before the first of them, in milliseconds; before each further one it is twice as long. */
const FIRST_WAIT = 1000

/** However long the service says. */
const LONGEST_WAIT = 60_000

interface Retries {
  /** Which of its answers are for now; 0 is none. */
  statuses?: number[]
  wait?: (milliseconds: number, failure: ApiFailure) => Promise<unknown>
  attempts?: number
  /** How long is waited in all, and at a time unless the service says more, in milliseconds. */
  most?: number
  longest?: number
}

/** Asks again where the service refuses for now, later each time, and as late as it says. */
export async function withRetries<T>(
  work: () => Promise<T>,
  {
    statuses = [503],
    wait = pause,
    attempts = ATTEMPTS,
    most = Number.POSITIVE_INFINITY,
    longest = LONGEST_WAIT,
  }: Retries = {},
): Promise<T> {
  let left = most
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof ApiFailure) || !statuses.includes(error.status) || attempt === attempts)
        throw error
      const least = Math.min(FIRST_WAIT * 2 ** (attempt - 1), longest)
      const time = Math.min(Math.max(least, error.retryAfter * 1000), LONGEST_WAIT)
      left -= time
      if (left < 0) throw error
      await wait(time, error)
    }
  }
}

type Busy = (seconds: number | null, isPreparing?: boolean) => void
let tell: Busy = () => {}
let waiting = 0
let preparing = 0

/**
 * @param listen told in how many seconds something is asked again, and whether the database is not ready yet; null where
 *   nothing waits
 */
export function onBusy(listen: Busy) {
  tell = listen
}

/** The database of a service that has just begun answers late: it may be loading. */
const PREPARING = 'DATABASE_UNAVAILABLE'

/** Waits before something is asked again, and says so. */
export async function waitAloud(milliseconds: number, signal?: AbortSignal | null, code?: string) {
  signal?.throwIfAborted()
  const isOne = Number(code === PREPARING)
  waiting++
  preparing += isOne
  tell(Math.round(milliseconds / 1000), preparing > 0)
  const givenUp = new Promise((resolve) => signal?.addEventListener('abort', resolve))
  await Promise.race([pause(milliseconds), givenUp])
  waiting--
  preparing -= isOne
  if (waiting === 0) tell(null)
  signal?.throwIfAborted()
}

/** A first start takes minutes on a slow machine. */
const LONGEST_START = 900_000

/** While a page waits for a start it asks as often. */
const LONGEST_PAUSE = 8000

/** Asks again, and says so, where the service is busy or still preparing. */
export function whileBusy<T>(work: () => Promise<T>, signal?: AbortSignal | null): Promise<T> {
  return withRetries(work, {
    attempts: Number.POSITIVE_INFINITY,
    most: LONGEST_START,
    longest: LONGEST_PAUSE,
    wait: (milliseconds, { code }) => waitAloud(milliseconds, signal, code),
  })
}

function pause(milliseconds: number) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}

/** Between two looks at what is still being loaded. */
const NEXT_LOOK = 5000

type Demo = NonNullable<Readiness['demo']>
let noteDemo: (demo: Demo | null) => void = () => {}

/** @param listen called with how much of a demo is there, while others of its releases are loaded; null when all are */
export function onDemo(listen: typeof noteDemo) {
  noteDemo = listen
}

async function followDemo() {
  let isPart = false
  for (;;) {
    const { demo } = await get<Readiness>('health/ready')
    if (demo || isPart) noteDemo(demo ?? null)
    if (!demo) return
    isPart = true
    await pause(NEXT_LOOK)
  }
}

/** What is published; while nothing is, and a demo is being loaded, it says so and waits. */
export async function loadCatalog(signal?: AbortSignal): Promise<Catalog> {
  for (;;) {
    const catalog = await get<Catalog>('catalog', {}, signal && { signal })
    const { releases } = catalog
    if (releases.length > 0) {
      // It is a note: without it a page is whole.
      if (releases.every(({ synthetic }) => synthetic)) void followDemo().catch(() => {})
      return catalog
    }
    if (!(await get<Readiness>('health/ready')).demo) return catalog
    await waitAloud(NEXT_LOOK, signal, PREPARING)
  }
}

/** Makes a cache of answers by key; a failed one is asked for again. */
export function cacheOf<Answer>() {
  const known = new Map<string, Promise<Answer>>()
  return (key: string, load: () => Promise<Answer>) => {
    const answer = known.get(key) ?? load()
    known.set(key, answer)
    answer.catch(() => known.delete(key))
    return answer
  }
}
