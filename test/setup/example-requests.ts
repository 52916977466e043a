import { issueToken } from '#src/accounts/account-mail.ts'
import type { TokenPurpose } from '#src/accounts/token-queries.ts'
import { endWaits } from '#test/accounts/mails.ts'
import type { TestApp } from './app.ts'
import type { Document, Operation } from './document.ts'
import { logIn, makeAdmin, newPerson } from './people.ts'
import { codeOfStep, stepAt } from './totp.ts'
import { beginTwoFactor, codeNow, turnOn } from './two-factor.ts'

/** A request that the document shows. */
export interface Example {
  /** Undefined where no body is sent. */
  mediaType: string | undefined
  body: unknown
  query: string
}

/** What of the document may be sent: the examples of the bodies' components, and the parameters' own. */
export function examplesOf(document: Document, operation: Operation): Example[] {
  const query = (operation.parameters ?? [])
    .filter((parameter) => parameter.in === 'query' && parameter.example !== undefined)
    .map(({ name, example }) => `${name}=${encodeURIComponent(String(example))}`)
    .join('&')
  const bodies = Object.entries(operation.requestBody?.content ?? {}).flatMap(([mediaType, { schema }]) => {
    const [{ $ref }] = ((schema as { anyOf?: unknown }).anyOf ?? [schema]) as [{ $ref: string }]
    const name = $ref.split('/').at(-1) ?? ''
    const component = document.components?.schemas?.[name] as { examples?: unknown[] } | undefined
    return (component?.examples ?? []).map((body) => ({ mediaType, body, query: '' }))
  })
  const withoutBody = query || !operation.requestBody
  return [
    ...bodies,
    ...(withoutBody ? [{ mediaType: undefined, body: undefined, query: query && `?${query}` }] : []),
  ]
}

/** What the tokens of mails are for, by the operations that take them. */
const PURPOSES: Record<string, TokenPurpose> = {
  resetPassword: 'password_reset',
  confirmEmail: 'email_confirmation',
}

/** A path with the examples of its parameters. */
function filledIn(path: string, { parameters = [] }: Operation): string {
  return path.replace(/\{(\w+)\}/g, (_, name) =>
    String(parameters.find((parameter) => parameter.name === name)?.example),
  )
}

/**
 * What an example needs besides: a token, from somebody whom nothing else depends on; what that person
 * has, for the path; and a refresh token, one of a mail or a code of an app that has really been given.
 */
export async function asSomebody(service: TestApp, operation: Operation, path: string, body: unknown) {
  const { operationId, security } = operation
  // One address may ask for some mails, and the operations ask for more.
  await endWaits(service.database)
  if (operationId === 'refresh') {
    const { refresh_token } = await newPerson(service.app)
    return { url: path, headers: {}, payload: { refresh_token } }
  }
  const purpose = PURPOSES[operationId as string]
  if (purpose) {
    const { writer } = service.database
    const { email } = await newPerson(service.app)
    await writer.updateTable('app_user').set({ email_confirmed: false }).execute()
    const issued = await issueToken(writer, email, purpose, 1)
    return { url: path, headers: {}, payload: { ...(body as object), token: issued?.token } }
  }
  if (security?.length === 0 && !path.includes('/cite/'))
    return { url: filledIn(path, operation), headers: {}, payload: body }
  const person = await newPerson(service.app)
  const { headers, email } = person
  if (['compareReleases', 'getScorecard', 'listSlowCalls'].includes(operationId as string)) {
    await makeAdmin({ ...service, person })
    const ofReleases = service.database.writer.selectFrom('release').select('code')
    const { code } = await ofReleases.executeTakeFirstOrThrow()
    return { url: filledIn(path.replaceAll(/\{[ab]\}/g, code), operation), headers, payload: body }
  }
  if (path.includes('{collection}')) {
    const url = filledIn(path, operation)
    const ring = [
      [38.5, 9.5],
      [38.501, 9.5],
      [38.501, 9.501],
      [38.5, 9.5],
    ]
    const features = [{ type: 'Feature', id: 'a', geometry: { type: 'Polygon', coordinates: [ring] } }]
    const payload = { type: 'FeatureCollection', features }
    await service.put(url.replace(/\/(advice|changes)$/, ''), { headers, payload })
    return { url, headers, payload: body }
  }
  if (operationId === 'confirmTwoFactor') {
    const totp = codeNow(await beginTwoFactor(service.app, person))
    return { url: path, headers, payload: { totp } }
  }
  if (operationId === 'disableTwoFactor') {
    const { secret } = await turnOn(service.app, person)
    // The code of the present step was used to turn it on.
    const totp = codeOfStep(secret, stepAt(Date.now()) + 1)
    return { url: path, headers, payload: { ...(body as object), totp } }
  }
  const make = async (url: string, payload: object = {}) =>
    (await service.post(url, { headers, payload })).body
  const item = async () => (await make('/advisory/yield/point', { lat: 9.5, lng: 38.5 })).history_id
  const idOf: Record<string, () => Promise<string>> = {
    '/auth/keys/': async () => (await make('/auth/keys', { name: 'x' })).id,
    '/auth/sessions/': async () => {
      await logIn(service.app, email)
      const { items } = (await service.get('/auth/sessions', { headers })).body
      return items.find(({ current }: { current: boolean }) => !current).id
    },
    '/history/': async () => {
      const id = await item()
      if (path.endsWith('/share')) await make(`/history/${id}/share`)
      return id
    },
    '/cite/': async () => (await make(`/history/${await item()}/share`)).id,
    '/subscriptions/': async () => {
      const threshold = { kind: 'relative', value: 10 }
      const place = { lat: 9.5, lng: 38.5 }
      const url = 'https://hooks.example.org/agro'
      return (await make('/subscriptions', { product: 'yield', threshold, url, ...place })).id
    },
  }
  const [, folder = ''] = /^(.*)\{id\}/.exec(path) ?? []
  return { url: path.replace('{id}', (await idOf[folder]?.()) ?? ''), headers, payload: body }
}
