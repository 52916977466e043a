import type { Document, Untyped } from './document.ts'

// Whose examples these are. The account of the examples would belong to whoever registers it
// first, so each visitor has one of their own.

/** Where the browser remembers it. */
const VISITOR = 'docs-visitor'

/** A text with the addresses of this visitor in the place of those of the examples. */
export function withAddressesOfVisitor(text: string) {
  const visitor = sessionStorage.getItem(VISITOR) ?? randomName()
  sessionStorage.setItem(VISITOR, visitor)
  return text.replaceAll(/\b(\w+)@example\.org/g, `$1.${visitor}@example.org`)
}

/** Has the next page begin as somebody else. */
function forgetVisitor() {
  sessionStorage.removeItem(VISITOR)
}

function randomName() {
  const bytes = crypto.getRandomValues(new Uint8Array(5))
  return [...bytes].map((byte) => byte.toString(36).padStart(2, '0')).join('')
}

/** How a token is sent, as the document calls it. */
const TOKEN = 'bearerAuth'

/** Operations that end the session of the token. */
const ENDING = ['logout', 'deleteProfile', 'resetPassword']

/** Operations after which the account of the examples is gone, or has another password. */
const PARTING = ['deleteProfile', 'changePassword', 'resetPassword']

/** The refresh token of the last login. */
let refreshToken: string | undefined

/** Makes what sends the refresh token of the last login in the place of the one of the example. */
export function createSender(document: Document) {
  return (request: Untyped) => {
    const written = exampleOf(document, 'RefreshRequest')?.refresh_token
    if (typeof request.body !== 'string' || !written || !refreshToken) return request
    return { ...request, body: request.body.replace(written, refreshToken) }
  }
}

/** Carries from one answer to the next request what a person would have to copy: tokens, ids and a new password. */
export function followingAnswers(document: Document) {
  const setResponse =
    (original: Untyped, system: Untyped) =>
    (...[path, method, response]: Untyped[]) => {
      if (response.ok) follow(document, system, path, method, response.body ?? {})
      return original(path, method, response)
    }
  return { statePlugins: { spec: { wrapActions: { setResponse } } } }
}

const exampleOf = ({ components }: Document, schema: string) => components.schemas?.[schema]?.examples?.[0]

/** Carries what an answer has given to the operations that want it. */
function follow(document: Document, system: Untyped, path: string, method: string, body: Untyped) {
  if (body.access_token) {
    authorize(system, body.access_token)
    refreshToken = body.refresh_token
  }
  const folders = [path, path.replace(/\/[^/]*$/, '')]
  for (const folder of folders) fillIds(document, system, folder, method === 'delete' ? '' : idIn(body))
  fillIds(document, system, '/history', body.history_id)
  // Of what stands elsewhere, such as a shared answer.
  const [, elsewhere] = /(\/\w+)\/[^/]+$/.exec(body.url ?? '') ?? []
  if (elsewhere) fillIds(document, system, elsewhere, body.id)

  const { operationId = '' } = document.paths[path]?.[method] ?? {}
  if (operationId === 'changePassword')
    fillPassword(document, system, system.specSelectors.requestFor(path, method)?.get('body'))
  if (ENDING.includes(operationId)) forgetToken(system)
  if (PARTING.includes(operationId)) forgetVisitor()
}

/** The id of what an answer is about, or of the first thing that it lists. */
function idIn(body: Untyped) {
  return body.id ?? Object.values(body).find(Array.isArray)?.[0]?.id
}

function authorize({ authActions, specSelectors }: Untyped, value: string) {
  const schema = specSelectors.specJson().getIn(['components', 'securitySchemes', TOKEN])
  authActions.authorizeWithPersistOption({ [TOKEN]: { name: TOKEN, schema, value } })
}

/** Where there is none, Swagger UI would take it for an error. */
function forgetToken({ authActions, authSelectors }: Untyped) {
  if (authSelectors.authorized().has(TOKEN)) authActions.logoutWithPersistOption([TOKEN])
}

/**
 * Gives the operations that send a password the one that was chosen.
 *
 * @param sent the request that has changed it
 */
function fillPassword(document: Document, { oas3Actions, oas3Selectors }: Untyped, sent: string | undefined) {
  const { new_password: password } = JSON.parse(sent ?? '{}')
  const [path, method] = ['/auth/login', 'post']
  const written = oas3Selectors.requestBodyValue(path, method)
  const example = typeof written === 'string' ? JSON.parse(written) : exampleOf(document, 'LoginRequest')
  if (!password || !example) return
  const value = JSON.stringify({ ...example, password }, null, 2)
  oas3Actions.setRequestBodyValue({ value, pathMethod: [path, method] })
}

/** Gives the operations on one thing of a folder its id, if there is one. */
function fillIds(
  { paths }: Document,
  { specActions, specSelectors }: Untyped,
  folder: string,
  id: string | undefined,
) {
  if (id === undefined) return
  for (const [path, operations] of Object.entries(paths)) {
    if (!path.startsWith(`${folder}/{id}`)) continue
    for (const method of Object.keys(operations)) {
      const parameters = specSelectors
        .specJsonWithResolvedSubtrees()
        .getIn(['paths', path, method, 'parameters'])
      const parameter = parameters.find((candidate: Untyped) => candidate.get('in') === 'path')
      specActions.changeParamByIdentity([path, method], parameter, id, false)
    }
  }
}
