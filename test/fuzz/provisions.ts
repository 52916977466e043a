import type { Operation } from '#test/setup/document.ts'
import { rectangle } from '#test/setup/square.ts'
import { codeOfStep, stepAt } from '#test/setup/totp.ts'
import { bytesOf, codeNow } from '#test/setup/two-factor.ts'
import { type Ask, type Caller, type Callers, type NextToken, newAccount } from './callers.ts'

const FIELD = { lat: 9.5, lng: 38.5 }
const WATCHED = {
  product: 'yield',
  threshold: { kind: 'relative', value: 10 },
  url: 'https://hooks.example.org/agro',
}

/** What is asked to make something for somebody has been refused. */
class Refused extends Error {}

/** Makes something for somebody. */
type Provision = (caller: Caller) => Promise<unknown>

/**
 * Sees to it that there is what an operation is about, by asking for it as its caller would: an id that is in nobody's
 * memory, a token of a mail, or a code of an app hardly ever comes about by chance.
 */
export function provisionsBy(ask: Ask, callers: Pick<Callers, 'renew'>, nextToken: NextToken) {
  async function answerTo(method: string, { authorization }: Caller, path: string, body?: object) {
    const { status, value } = await ask(method, path, authorization?.split(' ')[1], body)
    if (status >= 300) throw new Refused(`${method} ${path}: ${status}`)
    return value as { id: string; history_id: string; secret: string; items?: Record<string, string>[] }
  }

  const post = (caller: Caller, path: string, body: object = {}) => answerTo('POST', caller, path, body)

  /** Remembers all that a list has, by the member that names it. */
  async function list(caller: Caller, path: string, name: string): Promise<void> {
    const { items = [] } = await answerTo('GET', caller, path)
    const [folder] = path.split('?')
    for (const item of items) caller.memory.rememberId(`${folder}/`, item[name] as string)
  }

  async function item(caller: Caller): Promise<string> {
    const { history_id } = await post(caller, '/advisory/yield/point', FIELD)
    caller.memory.rememberId('/history/', history_id)
    return history_id
  }

  async function share(caller: Caller): Promise<void> {
    const { id } = await post(caller, `/history/${await item(caller)}/share`)
    caller.memory.rememberId('/cite/', id)
  }

  async function subscription(caller: Caller): Promise<void> {
    const { id } = await post(caller, '/subscriptions', { ...WATCHED, ...FIELD })
    caller.memory.rememberId('/subscriptions/', id)
  }

  async function key(caller: Caller): Promise<void> {
    const { id } = await post(caller, '/auth/keys', { name: 'fuzz' })
    caller.memory.rememberId('/auth/keys/', id)
  }

  async function session(caller: Caller): Promise<void> {
    const [email, password] = ['email', 'password'].map((name) => caller.memory.newest(name))
    await post({ ...caller, authorization: undefined }, '/auth/login', { email, password })
    await list(caller, '/auth/sessions', 'id')
  }

  async function collection(caller: Caller): Promise<void> {
    const feature = { type: 'Feature', id: 'a', geometry: rectangle(38.5, 9.5, 38.501, 9.501) }
    await answerTo('PUT', caller, '/fields/fuzz', { type: 'FeatureCollection', features: [feature] })
    caller.memory.rememberId('/fields/', 'fuzz')
  }

  async function tokenToConfirm(caller: Caller): Promise<void> {
    const account = newAccount()
    await post(caller, '/auth/register', { ...account, name: 'Rosa' })
    caller.memory.remember('token', await nextToken(account.email))
  }

  /** An address is sent a few mails an hour: that of a new account has had one. */
  async function tokenToReset(caller: Caller): Promise<void> {
    await callers.renew(caller)
    const email = caller.memory.newest('email') as string
    await post(caller, '/auth/password/forgot', { email })
    caller.memory.remember('token', await nextToken(email))
  }

  const begunSecondFactor = async (caller: Caller) =>
    (await post(caller, '/auth/two-factor', { password: caller.memory.newest('password') })).secret

  async function codeToConfirm(caller: Caller): Promise<void> {
    caller.memory.remember('totp', codeNow(await begunSecondFactor(caller)))
  }

  async function codeToDisable(caller: Caller): Promise<void> {
    const secret = await begunSecondFactor(caller)
    await post(caller, '/auth/two-factor/confirm', { totp: codeNow(secret) })
    // The code of the present step was used just now.
    caller.memory.remember('totp', codeOfStep(bytesOf(secret), stepAt(Date.now()) + 1))
  }

  /** Some operations are about more than is in their path. */
  const ofOperation: Record<string, Provision> = {
    // A login without a code: there may be a second factor by now.
    login: callers.renew,
    resetPassword: tokenToReset,
    confirmEmail: tokenToConfirm,
    confirmTwoFactor: codeToConfirm,
    disableTwoFactor: codeToDisable,
    getShare: share,
    unshareHistoryItem: share,
    getCitation: share,
    // A collection has names, and its fields have ids.
    getFields: collection,
    deleteFields: collection,
    getAdviceOnFields: collection,
    getFieldChanges: collection,
    // The document shows two versions, of which the demo has one.
    compareReleases: (caller) => list(caller, '/releases?product=yield', 'release'),
  }

  /** What lies in a folder, where the caller knows nothing in it. */
  const inFolder: Record<string, Provision> = {
    '/history/': item,
    '/subscriptions/': subscription,
    '/auth/keys/': key,
    '/auth/sessions/': session,
  }

  /** Makes it for a caller who has a login; others have to take things as they are. */
  return async function provide(
    { operationId = '' }: Operation,
    path: string,
    caller: Caller,
  ): Promise<void> {
    if (caller.scopes !== null) return
    const [folder = ''] = path.split('{')
    const provision = ofOperation[operationId] ?? (caller.memory.knows(folder) ? undefined : inFolder[folder])
    try {
      await provision?.(caller)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      // An account may have as much as it may have, or a second factor: a new one has neither.
      await callers.renew(caller)
      await provision?.(caller)
    }
  }
}
