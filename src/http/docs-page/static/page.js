// Runs in the browser: shows the operations of the document with Swagger UI, and carries from one answer to
// the next request what a person would have to copy: tokens and ids.

/** How a token is sent, as the document calls it. */
const TOKEN = 'bearerAuth'

/** Operations that end the session of the token. */
const ENDING = ['logout', 'deleteProfile', 'resetPassword']

/** Operations after which the account of the examples is gone, or has another password. */
const PARTING = ['deleteProfile', 'changePassword', 'resetPassword']

const NDJSON = 'application/x-ndjson'

// Of the same version as this file.
const { search } = new URL(import.meta.url)
const [{ forgetVisitor, withAddressesOfVisitor }, { createResolver }] = await Promise.all([
  import(`./visitor.js${search}`),
  import(`./resolve.js${search}`),
])

const room = document.querySelector('#operations')

const answer = await fetch(new URL('../json', import.meta.url))
if (!answer.ok) {
  room.textContent = `The document could not be read: ${answer.status}. Load this page again in a moment.`
  throw new Error(`The document could not be read: ${answer.status}`)
}
const spec = JSON.parse(withAddressesOfVisitor(await answer.text()))

/** Stands in an example for the refresh token of the last login. */
const EXAMPLE_TOKEN = spec.components.schemas.RefreshRequest.examples[0].refresh_token
let refreshToken = EXAMPLE_TOKEN

const ui = globalThis.SwaggerUIBundle({
  spec,
  domNode: room,
  deepLinking: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  persistAuthorization: true,
  tryItOutEnabled: true,
  validatorUrl: null,
  plugins: [plainLines, quickReferences, unchangedTexts, namedChooser, orderedHeadings, followingAnswers],
  requestInterceptor(request) {
    const { body } = request
    return typeof body === 'string'
      ? { ...request, body: body.replace(EXAMPLE_TOKEN, refreshToken) }
      : request
  },
})

// Swagger UI looks at the address once, when it has loaded. What begins otherwise is a chapter of the guide.
globalThis.addEventListener('hashchange', () => {
  if (location.hash.startsWith('#/')) ui.layoutActions.parseDeepLinkHash(location.hash)
})

/** Lines of JSON are sent as they are: Swagger UI takes every type with "json" in its name for one JSON text. */
function plainLines() {
  return {
    afterLoad() {
      const { getSampleSchema } = this.fn
      this.fn.getSampleSchema = (schema, mediaType, ...rest) =>
        getSampleSchema(schema, mediaType === NDJSON ? 'text/plain' : mediaType, ...rest)
    },
  }
}

/** Operations open at once. */
function quickReferences() {
  const resolveAt = createResolver(spec, document.baseURI.replace(/#.*/, ''))
  return { fn: { resolveSubtree: async (_document, path) => ({ spec: resolveAt(path), errors: [] }) } }
}

/** Texts and examples are made once: Swagger UI draws all that is open anew at each step of a request. */
function unchangedTexts() {
  const onChange = (component, { React }) => React.memo(component)
  return { wrapComponents: { HighlightCode: onChange, Markdown: onChange } }
}

/** Swagger UI gives the chooser of a server a label without a text. */
function namedChooser() {
  const named = (Servers, { React }) => {
    const name = (box) => box?.querySelector('#servers')?.setAttribute('aria-label', 'Server')
    return (props) => React.createElement('div', { ref: name }, React.createElement(Servers, props))
  }
  return { wrapComponents: { Servers: named } }
}

/** The title of the document comes after headings of the second level, and is one: the name of the service is the first. */
function orderedHeadings() {
  const ordered = (Info, { React }) => {
    const rank = (box) => box?.querySelector('.title')?.setAttribute('aria-level', '2')
    return (props) => React.createElement('div', { ref: rank }, React.createElement(Info, props))
  }
  return { wrapComponents: { InfoContainer: ordered } }
}

function followingAnswers() {
  const setResponse = (original, system) => (path, method, response) => {
    if (response.ok) follow(system, path, method, response.body ?? {})
    return original(path, method, response)
  }
  return { statePlugins: { spec: { wrapActions: { setResponse } } } }
}

/** Carries what an answer has given to the operations that want it. */
function follow(system, path, method, body) {
  if (body.access_token) {
    authorize(system, body.access_token)
    refreshToken = body.refresh_token
  }
  const folders = [path, path.replace(/\/[^/]*$/, '')]
  for (const folder of folders) fillIds(system, folder, method === 'delete' ? '' : idIn(body))
  fillIds(system, '/history', body.history_id)
  if (path === '/history/{id}/share') fillIds(system, '/cite', body.id)

  const { operationId } = spec.paths[path][method]
  if (ENDING.includes(operationId)) forgetToken(system)
  if (PARTING.includes(operationId)) forgetVisitor()
}

/** The id of what an answer is about, or of the first thing that it lists. */
function idIn(body) {
  return body.id ?? Object.values(body).find(Array.isArray)?.[0]?.id
}

function authorize({ authActions, specSelectors }, value) {
  const schema = specSelectors.specJson().getIn(['components', 'securitySchemes', TOKEN])
  authActions.authorizeWithPersistOption({ [TOKEN]: { name: TOKEN, schema, value } })
}

/** Where there is none, Swagger UI would take it for an error. */
function forgetToken({ authActions, authSelectors }) {
  if (authSelectors.authorized().has(TOKEN)) authActions.logoutWithPersistOption([TOKEN])
}

/** Gives the operations on one thing of a folder its id, if there is one. */
function fillIds({ specActions, specSelectors }, folder, id) {
  if (id === undefined) return
  for (const [path, operations] of Object.entries(spec.paths)) {
    if (!path.startsWith(`${folder}/{id}`)) continue
    for (const method of Object.keys(operations)) {
      const parameters = specSelectors
        .specJsonWithResolvedSubtrees()
        .getIn(['paths', path, method, 'parameters'])
      const parameter = parameters.find((candidate) => candidate.get('in') === 'path')
      specActions.changeParamByIdentity([path, method], parameter, id, false)
    }
  }
}
