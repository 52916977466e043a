import type { LoginRequest, Tokens } from '#schemas/auth.ts'
import type { UserProfile as User } from '#schemas/user.ts'
import { ApiFailure, addressOf, ask, type Init, type Query, send, whileBusy } from '../shell/api.ts'

// The login of this browser, as long as a tab of it is open.
//
// The access token is kept in memory alone. The refresh token is in a storage, so that a reload and other tabs go on; it is
// changed for a new one at each use, and the service ends the session where an old one is used again. Two tabs that use one
// at the same moment are given the same successor.

export interface TokenStorage extends Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> {
  /** Until then it may have what is left of tabs that are closed. */
  opened?: Promise<void>
  /** @param changed called when another tab has logged in or out */
  watch?(changed: () => void): void
}

export type Session = ReturnType<typeof createSession>

const STORED = 'agro.refresh'

/** A token that ends sooner is changed before it is used, in milliseconds. */
const MARGIN = 30_000

/** @param announce called when somebody has logged in, or nobody is any more */
export function createSession(storage: TokenStorage, announce: (user: User | null) => void) {
  const tokens = createTokens(storage, announce)

  function askOnce<Answer>(address: URL, init: Init) {
    const headers = new Headers(init.headers)
    const token = tokens.current()?.token
    if (token !== undefined) headers.set('authorization', `Bearer ${token}`)
    return ask<Answer>(address, { ...init, headers })
  }

  // Who logs out in one tab is logged out in all; a tab that nobody is logged in at goes on with the login of another.
  storage.watch?.(async () => {
    const isStored = storage.getItem(STORED) !== null
    if (tokens.current() && !isStored) tokens.forget()
    if (tokens.current() || !isStored) return
    await tokens.refresh().catch(() => {})
    const user = tokens.current()?.user
    if (user) announce(user)
  })

  async function askAsUser<Answer>(address: URL, init: Init = {}): Promise<Answer> {
    const token = tokens.current()
    if (token && token.endsAt - Date.now() < MARGIN) await tokens.refresh()
    try {
      return await askOnce(address, init)
    } catch (error) {
      if (!token || !isRefusal(error)) throw error
    }
    await tokens.refresh()
    return askOnce(address, init)
  }

  return {
    user: () => tokens.current()?.user ?? null,
    /** Takes up the session of this tab, if it has one. */
    async resume(): Promise<User | null> {
      if (!tokens.current()) await tokens.refresh()
      return tokens.current()?.user ?? null
    },
    async login(credentials: LoginRequest) {
      const user = tokens.keep(await whileBusy(() => send('auth/login', credentials)))
      announce(user)
      return user
    },
    /** Ends the session at the service, too. */
    async logout() {
      try {
        if (tokens.current()) await askAsUser(addressOf('auth/logout'), { method: 'POST' })
      } finally {
        tokens.forget()
      }
    },
    /** Takes over what was changed of the account. */
    changed: tokens.changed,
    /** Drops the tokens, where the service has ended the session. */
    forget: tokens.forget,
    get: <Answer>(path: string, query?: Query, init?: Init) =>
      askAsUser<Answer>(addressOf(path, query), init),
    send: <Answer>(path: string, body: unknown, init: Init = {}) =>
      askAsUser<Answer>(addressOf(path), asJson(body, init)),
    remove: (path: string) => askAsUser<void>(addressOf(path), { method: 'DELETE' }),
  }
}

/** Keeps the tokens of a login, and renews them. */
function createTokens(storage: TokenStorage, announce: (user: User | null) => void) {
  let current: { token: string; endsAt: number; user: User } | null = null
  let refreshing: Promise<void> | null = null

  function keep({ access_token, expires_in, refresh_token, user }: Tokens) {
    current = { token: access_token, endsAt: Date.now() + expires_in * 1000, user }
    storage.setItem(STORED, refresh_token)
    return user
  }

  function forget() {
    const was = current
    current = null
    storage.removeItem(STORED)
    if (was) announce(null)
  }

  async function refreshNow() {
    await storage.opened
    const refresh_token = storage.getItem(STORED)
    if (refresh_token === null) return
    try {
      const before = current?.user.id
      const user = keep(await whileBusy(() => send('auth/refresh', { refresh_token })))
      // Another tab has logged in as somebody else.
      if (before !== undefined && before !== user.id) announce(user)
    } catch (error) {
      // A token that is refused for now is tried again by the next who asks.
      if (!isRefusal(error)) throw error
      forget()
    }
  }

  return {
    current: () => current,
    keep,
    forget,
    changed(user: User) {
      if (current) current = { ...current, user }
    },
    /** Changes the refresh token for new tokens, once for all who wait for it. */
    refresh() {
      refreshing ??= refreshNow().finally(() => {
        refreshing = null
      })
      return refreshing
    },
  }
}

/** Whether a token was refused: it has ended, or is none. */
function isRefusal(error: unknown) {
  return error instanceof ApiFailure && error.status === 401 && error.code === 'UNAUTHORIZED'
}

/** @param body texts and files go as they are */
function asJson(body: unknown, init: Init): Init {
  const headers = new Headers(init.headers)
  if (!headers.has('content-type')) headers.set('content-type', 'application/json')
  const isReady = typeof body === 'string' || body instanceof Blob
  return { method: 'POST', ...init, headers, body: isReady ? body : JSON.stringify(body) }
}

/** The storage of all tabs; that of the tab where the browser does not say which are open; memory, where it keeps nothing. */
export function openStorage(): TokenStorage {
  try {
    sessionStorage.getItem(STORED)
    return 'locks' in navigator ? sharedStorage() : sessionStorage
  } catch {
    const memory = new Map<string, string>()
    return {
      getItem: (name) => memory.get(name) ?? null,
      setItem: (name, value) => void memory.set(name, value),
      removeItem: (name) => void memory.delete(name),
    }
  }
}

/** A tab with the login has this in a storage of its own, which a reload leaves there. */
const MARK = 'agro.here'

/**
 * The storage of all tabs. Each with the login holds a lock, which ends with it: where no tab does, and this one had none, the
 * token is one that closed tabs have left, and is removed.
 */
function sharedStorage(): TokenStorage {
  // Services below other paths of this host have their own.
  const key = `${STORED} ${new URL(document.baseURI).pathname}`
  let release: (() => void) | undefined

  function hold() {
    if (release) return
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    void navigator.locks.request(key, { mode: 'shared' }, () => held)
  }

  async function removeLeft() {
    if (localStorage.getItem(key) === null || sessionStorage.getItem(MARK) !== null) return
    const { held = [] } = await navigator.locks.query()
    if (!held.some(({ name }) => name === key)) localStorage.removeItem(key)
  }

  return {
    opened: removeLeft().catch(() => {}),
    getItem: () => localStorage.getItem(key),
    setItem(_, value) {
      localStorage.setItem(key, value)
      sessionStorage.setItem(MARK, '')
      hold()
    },
    removeItem() {
      localStorage.removeItem(key)
      sessionStorage.removeItem(MARK)
      release?.()
      release = undefined
    },
    watch(changed) {
      addEventListener('storage', (event) => {
        // The first token or the last one: those between are changed for each other.
        if (event.key === key && (event.oldValue === null || event.newValue === null)) changed()
      })
    },
  }
}

/** A name for a request, so that it is done once however often it is sent. */
export function newName() {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Items of a page, the most that any list gives. */
const LIMIT = 1000

interface Listed<Item> {
  items: Item[]
  next_cursor: string | null
}

/**
 * All items of a list that comes in pages.
 *
 * @param progress told how many there are, while there are more
 */
export async function allItems<Item>(
  session: Session,
  path: string,
  query: Record<string, string | null>,
  left: AbortSignal,
  progress: (count: number) => void = () => {},
): Promise<Item[]> {
  const all: Item[] = []
  let cursor: string | null = null
  do {
    const wanted = { ...query, limit: LIMIT, cursor }
    const page: Listed<Item> = await session.get(path, wanted, { signal: left })
    all.push(...page.items)
    cursor = page.next_cursor
    if (cursor !== null) progress(all.length)
  } while (cursor !== null)
  return all
}
