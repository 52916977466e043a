// Who is logged in in this window.
//
// The access token is kept in memory alone. The refresh token is in the storage of the tab, so that a reload goes
// on; it is changed for a new one at each use, and the service ends the session where an old one is used again.

import { ApiFailure, addressOf, ask, send } from '../shell/api.ts'

/**
 * @typedef {object} User
 * @property {string} id
 * @property {string} email
 * @property {string} name
 * @property {string | null} organisation
 * @property {boolean} email_confirmed
 * @property {'user' | 'admin'} role
 * @property {string} created_at
 */

/**
 * @typedef {object} Tokens as the service gives them
 * @property {string} access_token
 * @property {number} expires_in seconds
 * @property {string} refresh_token
 * @property {User} user
 */

/** @typedef {{ email: string, password: string, totp?: string, recovery_code?: string }} Credentials */
/** @typedef {Record<string, string | number | null | undefined>} Query */
/** @typedef {import('../shell/api.ts').Init} Init */

/**
 * @typedef {object} Session
 * @property {() => User | null} user
 * @property {() => Promise<User | null>} resume takes up the session of this tab, if it has one
 * @property {(credentials: Credentials) => Promise<User>} login
 * @property {() => Promise<void>} logout ends the session at the service, too
 * @property {(user: User) => void} changed takes over what was changed of the account
 * @property {() => void} forget drops the tokens, where the service has ended the session
 * @property {(path: string, query?: Query, init?: RequestInit) => Promise<any>} get
 * @property {(path: string, body: unknown, init?: Init) => Promise<any>} send
 * @property {(path: string) => Promise<any>} remove
 */

const STORED = 'agro.refresh'

/** A token that ends sooner is changed before it is used, in milliseconds. */
const MARGIN = 30_000

/**
 * @param {Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>} storage
 * @param {(user: User | null) => void} announce called when somebody has logged in, or nobody is any more
 * @returns {Session}
 */
export function createSession(storage, announce) {
  const tokens = createTokens(storage, announce)

  /** @param {URL} address @param {Init} init */
  function askOnce(address, init) {
    const headers = new Headers(init.headers)
    const token = tokens.current()?.token
    if (token !== undefined) headers.set('authorization', `Bearer ${token}`)
    return ask(address, { ...init, headers })
  }

  /** @param {URL} address @param {Init} [init] */
  async function askAsUser(address, init = {}) {
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
    async resume() {
      if (!tokens.current()) await tokens.refresh()
      return tokens.current()?.user ?? null
    },
    async login(credentials) {
      const user = tokens.keep(await send('auth/login', credentials))
      announce(user)
      return user
    },
    async logout() {
      try {
        if (tokens.current()) await askAsUser(addressOf('auth/logout'), { method: 'POST' })
      } finally {
        tokens.forget()
      }
    },
    changed: tokens.changed,
    forget: tokens.forget,
    get: (path, query, init) => askAsUser(addressOf(path, query), init),
    send: (path, body, init = {}) => askAsUser(addressOf(path), asJson(body, init)),
    remove: (path) => askAsUser(addressOf(path), { method: 'DELETE' }),
  }
}

/**
 * What a login has given, and how it is gone on with.
 *
 * @param {Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>} storage
 * @param {(user: User | null) => void} announce
 */
function createTokens(storage, announce) {
  /** @type {{ token: string, endsAt: number, user: User } | null} */
  let current = null
  /** @type {Promise<void> | null} */
  let refreshing = null

  /** @param {Tokens} tokens */
  function keep({ access_token, expires_in, refresh_token, user }) {
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
    const refresh_token = storage.getItem(STORED)
    if (refresh_token === null) return
    try {
      keep(await send('auth/refresh', { refresh_token }))
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
    /** @param {User} user */
    changed(user) {
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

/**
 * Whether a token was refused: it has ended, or is none.
 *
 * @param {unknown} error
 */
function isRefusal(error) {
  return error instanceof ApiFailure && error.status === 401 && error.code === 'UNAUTHORIZED'
}

/**
 * @param {unknown} body texts go as they are
 * @param {Init} init
 * @returns {Init}
 */
function asJson(body, init) {
  const headers = new Headers(init.headers)
  if (!headers.has('content-type')) headers.set('content-type', 'application/json')
  return { method: 'POST', ...init, headers, body: typeof body === 'string' ? body : JSON.stringify(body) }
}

/**
 * The storage of the tab; memory, where the browser refuses to keep anything.
 *
 * @returns {Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>}
 */
export function tabStorage() {
  try {
    sessionStorage.getItem(STORED)
    return sessionStorage
  } catch {
    /** @type {Map<string, string>} */
    const memory = new Map()
    return {
      getItem: (name) => memory.get(name) ?? null,
      setItem: (name, value) => void memory.set(name, value),
      removeItem: (name) => void memory.delete(name),
    }
  }
}

/** A name for a request, so that it is done once however often it is sent. */
export function newName() {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
