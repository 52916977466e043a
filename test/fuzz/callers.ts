import { randomUUID } from 'node:crypto'
import { Remembered } from './values.ts'

/** Asks the service under test, as any client would. */
export type Ask = (
  method: string,
  path: string,
  token?: string,
  body?: object,
) => Promise<{ status: number; value: unknown }>

/** The token of the next mail that an address is sent; those to others until then are passed over. */
export type NextToken = (email: string) => Promise<string>

/** Somebody who asks, with what they were given until now. */
export interface Caller {
  /** What their token is called in reports. */
  name: string
  authorization: string | undefined
  /** Null for a login, which may do everything; the scopes of a key; undefined where the token is none. */
  scopes: string[] | null | undefined
  memory: Memory
}

/** So many ids are chosen among. */
const MOST_IDS = 6

/** What is a new one in one place is the current one in another. */
const keyOf = (name: string) => name.replace(/^(next|new|current)_/, '')

/** The folder of what a path is about: that of `/history` and `/history/{id}` is `/history/`. */
const folderOf = (path: string) => `${path.replace(/\/(\{\w+\})?$/, '')}/`

/** Whether what is answered at a path lies in its folder; what belongs to such a thing lies elsewhere. */
const isFolder = (path: string) => !path.replace(/\{\w+\}$/, '').includes('{')

/** What a caller has sent and was given, by the names of the members; the newest first. */
export class Memory {
  readonly #values = new Map<string, string[]>()
  readonly #paths = new Map<string, string>()
  readonly #longest = 4

  remember(name: string, value: string): void {
    const key = keyOf(name)
    const kept = this.#values.get(key) ?? []
    if (kept[0] !== value) this.#values.set(key, [value, ...kept].slice(0, this.#longest))
  }

  /**
   * Remembers all texts in a value by the names that they have there. An id of a name, such as `history_id`, is one of
   * what lies in the folder of that name.
   *
   * @param path where the value was answered
   */
  rememberAll(value: unknown, path = ''): void {
    if (value === null || typeof value !== 'object') return
    for (const [name, member] of Object.entries(value)) {
      if (typeof member !== 'string') this.rememberAll(member, path)
      else {
        this.remember(name, member)
        if (name === 'id' && isFolder(path)) this.rememberId(folderOf(path), member)
        else if (/_id$/.test(name)) this.rememberId(`/${name.replace(/_id$/, '')}/`, member)
      }
    }
  }

  /** Remembers what lies in a folder, such as `/history/`. */
  rememberId(folder: string, id: string): void {
    this.#paths.delete(id)
    this.#paths.set(id, folder)
  }

  /** There is no such thing any more. */
  forgetId(id: string): void {
    this.#paths.delete(id)
  }

  /** Whether there is something in a folder. */
  knows(folder: string): boolean {
    return [...this.#paths.values()].some((path) => path.startsWith(folder))
  }

  newest(name: string): string | undefined {
    return this.#values.get(keyOf(name))?.[0]
  }

  /** Ids of what the caller has in a folder, the newest first; of all that they have, where there is nothing in it. */
  ids(folder = ''): string[] {
    const all = [...this.#paths].reverse()
    const inFolder = all.filter(([, path]) => path.startsWith(folder))
    return (inFolder.length > 0 ? inFolder : all).slice(0, MOST_IDS).map(([id]) => id)
  }

  /** A value with all that is to be remembered in its place. */
  recall(value: unknown): unknown {
    if (value instanceof Remembered) return this.newest(value.name) ?? value.otherwise
    if (Array.isArray(value)) return value.map((item) => this.recall(item))
    if (value === null || typeof value !== 'object') return value
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, this.recall(member)]))
  }
}

/** The text that everything of one account has in it, and that no other account may ever see. */
export const SECRET = `only-its-owner-${randomUUID()}`

/** Who asks what is for admins, and nothing else: nobody makes another one. */
export const ADMIN = 'admin'

const PASSWORD = 'teff grows at dawn'
const POINT = { lat: 9.5, lng: 38.5 }

/** An account that there is already. */
export interface Account {
  email: string
  password: string
}

/** What nobody has registered with yet. */
export function newAccount(): Account {
  return { email: `${randomUUID()}@example.org`, password: PASSWORD }
}

export interface Callers {
  /** Everybody who asks, by name. */
  byName: Record<string, Caller>
  /** Ids of what somebody has who never asks. */
  foreignIds: string[]
  /** Gives a caller a new account where the old one, or its login, has been ended. */
  renew(caller: Caller): Promise<void>
}

/**
 * Makes accounts, logins that go on and that have ended, and a key of each scope.
 *
 * @param admin an admin's account
 */
export async function makeCallers(
  ask: Ask,
  nextToken: NextToken,
  scopes: string[],
  admin: Account,
): Promise<Callers> {
  async function logInAs({ email, password }: Account) {
    const tokens = (await expectSuccess(ask('POST', '/auth/login', undefined, { email, password }))) as {
      access_token: string
    }
    const memory = new Memory()
    memory.rememberAll({ email, password, ...tokens })
    return { token: tokens.access_token, memory }
  }

  async function logIn(name: string) {
    const account = newAccount()
    await expectSuccess(ask('POST', '/auth/register', undefined, { ...account, name }))
    const token = await nextToken(account.email)
    await expectSuccess(ask('POST', '/auth/confirm', undefined, { token }))
    const someone = await logInAs(account)
    someone.memory.remember('name', name)
    return someone
  }

  async function login(): Promise<Caller> {
    const { token, memory } = await logIn('Amina Bekele')
    return { name: 'login', authorization: `Bearer ${token}`, scopes: null, memory }
  }

  async function adminLogin(): Promise<Caller> {
    const { token, memory } = await logInAs(admin)
    return { name: ADMIN, authorization: `Bearer ${token}`, scopes: null, memory }
  }

  async function key(scope: string): Promise<Caller | undefined> {
    const { token, memory } = await logIn('Amina Bekele')
    const made = await ask('POST', '/auth/keys', token, { name: 'fuzz', scopes: [scope] })
    if (made.status >= 400) return undefined
    memory.rememberAll(made.value, '/auth/keys')
    const { key } = made.value as { key: string }
    return { name: `key ${scope}`, authorization: `Bearer ${key}`, scopes: [scope], memory }
  }

  const owner = await logIn(SECRET)
  const kept = await expectSuccess(
    ask('POST', '/advisory/yield/point', owner.token, { ...POINT, name: SECRET }),
  )
  owner.memory.rememberAll(kept)
  owner.memory.rememberAll(
    await expectSuccess(ask('POST', '/auth/keys', owner.token, { name: SECRET.slice(0, 40) })),
  )
  const ended = await logIn('Amina Bekele')
  await ask('POST', '/auth/logout', ended.token)
  const ofNoUse = (name: string, authorization: string | undefined, memory = new Memory()): Caller => ({
    name,
    authorization,
    scopes: undefined,
    memory,
  })
  const keys: (Caller | undefined)[] = []
  // One after the other: mails are looked at in their order.
  for (const scope of scopes) keys.push(await key(scope))
  const all = [
    await login(),
    await adminLogin(),
    ...keys.filter((caller) => caller !== undefined),
    ofNoUse('nobody', undefined),
    ofNoUse('ended login', `Bearer ${ended.token}`, ended.memory),
    ofNoUse('unsigned token', `Bearer ${unsigned(owner.token)}`),
    ofNoUse('other scheme', 'Basic YW1pbmE6YW1pbmE='),
    ofNoUse('unknown key', 'Bearer agro_0000000000000000000000000000000000000000000'),
  ]
  return {
    byName: Object.fromEntries(all.map((caller) => [caller.name, caller])),
    foreignIds: owner.memory.ids(),
    async renew(caller) {
      const [scope] = caller.scopes ?? []
      const again = caller.name === ADMIN ? adminLogin : login
      Object.assign(caller, scope === undefined ? await again() : await key(scope))
    },
  }
}

/** The claims of a token, with a header that says that nobody has signed them. */
function unsigned(token: string): string {
  const head = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')
  return `${head}.${token.split('.')[1]}.`
}

async function expectSuccess(answer: ReturnType<Ask>): Promise<unknown> {
  const { status, value } = await answer
  if (status >= 300) throw new Error(`the service cannot be tried: ${status} ${JSON.stringify(value)}`)
  return value
}
