import { ROOT } from '../shell/frame.ts'
import { TEXTS } from '../texts/en.ts'
import { createResolver, shortened, type Untyped } from './document.ts'
import { createSender, followingAnswers, withAddressesOfVisitor } from './following.ts'

const NDJSON = 'application/x-ndjson'

/** The tags that are open at first: the others are for later. */
const OPEN_TAGS = ['advisory', 'places', 'catalog']

/** The changes to Swagger UI. */
export function docsPlugins(onReady: (system: Untyped) => void) {
  // Called once the settings are there, before anything is drawn or asked for.
  const loaded =
    (original: Untyped, system: Untyped) =>
    (...given: Untyped[]) => {
      const settings = system.getConfigs()
      for (const document of settings.urls) document.url = new URL(document.url, ROOT).href
      // A link may lead to any operation.
      if (location.hash.startsWith('#/')) settings.urls.primaryName = settings.urls.at(-1).name
      settings.operationsSorter = pointsFirst
      settings.requestInterceptor = createSender(system)
      onReady(system)
      return original(...given)
    }
  const ready = { statePlugins: { configs: { wrapActions: { loaded } } } }
  const changes = [
    shortTexts,
    openTags,
    search,
    plainLines,
    quickReferences,
    unchangedTexts,
    bodyFirst,
    padlocks,
    keptToken,
  ]
  return [...changes, namedParts, followingAnswers, ready]
}

/** Points stand at the top; the rest has the order of the document. */
function pointsFirst(one: Untyped, other: Untyped) {
  const rank = ({ path, method }: Untyped) =>
    method === 'post' && /^\/advisory\/\w+\/point$/.test(path) ? 0 : 1
  return rank(one.toObject()) - rank(other.toObject())
}

/** The document as the page shows it: with examples that are the visitor's own. */
function shortTexts() {
  const updateJsonSpec = (original: Untyped) => (document: Untyped) =>
    original(shortened(JSON.parse(withAddressesOfVisitor(JSON.stringify(document)))))
  return { statePlugins: { spec: { wrapActions: { updateJsonSpec } } } }
}

/** Tags of accounts and operations are closed, unless something is searched for. */
function openTags() {
  const isShown =
    (original: Untyped) =>
    (...[state, thing, otherwise]: Untyped[]) => {
      if (thing[0] !== 'operations-tag') return original(thing, otherwise)
      return Boolean(state.get('filter')) || original(thing, OPEN_TAGS.includes(thing[1]))
    }
  return { statePlugins: { layout: { wrapSelectors: { isShown } } } }
}

/** Finds operations by their paths and summaries. */
function search() {
  const opsFilter = (tags: Untyped, phrase: string) => {
    const words = phrase.toLowerCase().split(/\s+/).filter(Boolean)
    const isMeant = (one: Untyped) => {
      const text = [one.get('method'), one.get('path'), one.getIn(['operation', 'summary'])]
        .join(' ')
        .toLowerCase()
      return words.every((word) => text.includes(word))
    }
    return tags
      .map((tag: Untyped) => tag.update('operations', (all: Untyped) => all.filter(isMeant)))
      .filter((tag: Untyped) => tag.get('operations').size > 0)
  }
  return { fn: { opsFilter } }
}

/** Lines of JSON are sent as they are: Swagger UI takes every type with "json" in its name for one JSON text. */
function plainLines() {
  return {
    afterLoad(this: Untyped) {
      const { getSampleSchema } = this.fn
      this.fn.getSampleSchema = (...[schema, mediaType, ...rest]: Untyped[]) =>
        getSampleSchema(schema, mediaType === NDJSON ? 'text/plain' : mediaType, ...rest)
    },
  }
}

/** Operations open at once. */
function quickReferences() {
  let of: Untyped
  let resolveAt: (path: string[]) => unknown
  const resolveSubtree = async (document: Untyped, path: string[]) => {
    if (of !== document) resolveAt = createResolver(document, globalThis.document.baseURI.replace(/#.*/, ''))
    of = document
    return { spec: resolveAt(path), errors: [] }
  }
  return { fn: { resolveSubtree } }
}

/** Texts and examples are made once: Swagger UI draws all that is open anew at each step of a request. */
function unchangedTexts() {
  const onChange = (component: Untyped, { React }: Untyped) => React.memo(component)
  return { wrapComponents: { HighlightCode: onChange, Markdown: onChange } }
}

/** The editor of a body comes first, and what may also be sent in the query is folded below. */
function bodyFirst() {
  const parameters = (Original: Untyped, { React }: Untyped) =>
    function Parameters(props: Untyped) {
      const [isOpen, open] = React.useState(false)
      const { parameters, operation } = props
      const beside = parameters.filter((one: Untyped) => one.get('in') !== 'path')
      if (!operation.get('requestBody') || beside.size === 0) return React.createElement(Original, props)
      const path = parameters.filter((one: Untyped) => one.get('in') === 'path')
      const body = React.createElement(Original, { ...props, parameters: path })
      const others = { ...props, parameters: beside, operation: operation.delete('requestBody') }
      const toggle = ({ currentTarget }: Untyped) => open(currentTarget.open)
      return React.createElement(
        'div',
        { className: path.size > 0 ? 'body-first' : 'body-first no-path' },
        body,
        React.createElement(
          'details',
          { className: 'in-query', onToggle: toggle },
          React.createElement('summary', {}, TEXTS.docs.inQuery(beside.size)),
          isOpen && React.createElement(Original, others),
        ),
      )
    }
  return { wrapComponents: { parameters } }
}

/** An operation that takes no token has no padlock; a closed one opens with a token. */
function padlocks() {
  const isAuthorized = (original: Untyped) => (_state: Untyped, needs: Untyped) =>
    needs?.some((one: Untyped) => one.size === 0) ? null : original(needs)
  const inverted =
    (Original: Untyped, { React }: Untyped) =>
    (props: Untyped) =>
      props.isAuthorized !== null &&
      React.createElement(Original, { ...props, isAuthorized: !props.isAuthorized })
  return {
    statePlugins: { auth: { wrapSelectors: { isAuthorized } } },
    wrapComponents: { authorizeOperationBtn: inverted, authorizeBtn: inverted },
  }
}

/** The token stays when another document is chosen: Swagger UI would put back the one that it has stored, which is none. */
function keptToken() {
  return { statePlugins: { auth: { wrapActions: { restoreAuthorization: () => () => ({ type: 'none' }) } } } }
}

/** Swagger UI gives the chooser of a server a label without a text, and its title comes after headings of the second level. */
function namedParts() {
  const named =
    (part: string, name: string, value: string) =>
    (Original: Untyped, { React }: Untyped) => {
      const mark = (box: Element | null) => box?.querySelector(part)?.setAttribute(name, value)
      return (props: Untyped) =>
        React.createElement('div', { ref: mark }, React.createElement(Original, props))
    }
  return {
    wrapComponents: {
      // The page has a chooser of its own.
      DarkModeToggle: () => () => null,
      Servers: named('#servers', 'aria-label', TEXTS.docs.server),
      InfoContainer: named('.title', 'aria-level', '2'),
    },
  }
}
