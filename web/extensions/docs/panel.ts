import { element } from '../../shell/element.ts'
import { ROOT } from '../../shell/frame.ts'
import { TEXTS } from '../../texts/en.ts'
import { type Document, resolved, shorten, type Untyped } from './document.ts'
import { createSender, followingAnswers, withAddressesOfVisitor } from './following.ts'
import { docs } from './texts.ts'

// Swagger UI as the form of an operation. There is one, which moves to the operation that is tried: it carries what
// answers have given, as tokens and ids, from one to the next.

const NDJSON = 'application/x-ndjson'

let system: Promise<Untyped> | undefined
let opener: HTMLButtonElement | undefined

const panel = () => document.querySelector('#swagger-ui') as HTMLElement

/** @param body of the operation, which has the panel below its button */
export async function openPanel(body: HTMLElement, button: HTMLButtonElement, id: string) {
  closePanel()
  opener = button
  button.ariaExpanded = 'true'
  button.textContent = docs.close
  const box = panel()
  const loading = element('p', { role: 'status' }, TEXTS.loading)
  button.parentElement?.after(loading, box)
  box.hidden = false
  system ??= start(box)
  const found = await system.catch(() => null)
  loading.remove()
  if (found) return found.layoutActions.updateFilter(id)
  system = undefined
  closePanel()
  body.prepend(element('p', { className: 'problem', role: 'alert' }, TEXTS.unreachable))
}

export function closePanel() {
  panel().hidden = true
  if (!opener) return
  opener.ariaExpanded = 'false'
  opener.textContent = docs.tryIt
}

async function start(box: HTMLElement) {
  const { style = '', script = '' } = box.dataset
  // Below the rules of the page, which change its own.
  globalThis.document
    .querySelector('link[href$="docs.css"]')
    ?.before(element('link', { rel: 'stylesheet', href: style }))
  const address = new URL('openapi.json?media=all', ROOT).href
  const [text] = await Promise.all([read(address), loadScript(script)])
  const document: Document = JSON.parse(withAddressesOfVisitor(text))
  shorten(document)
  const { SwaggerUIBundle } = globalThis as Untyped
  const found = SwaggerUIBundle({
    domNode: box,
    layout: 'Panel',
    docExpansion: 'full',
    defaultModelsExpandDepth: -1,
    persistAuthorization: false,
    tryItOutEnabled: true,
    requestInterceptor: createSender(document),
    plugins: [
      ...[layout, chosenAlone, resolver(document), plainLines, unchangedTexts, ownColours],
      ...[bodyFirst, answerFirst, padlock, followingAnswers(document)],
    ],
  }).getSystem()
  found.layoutActions.updateFilter('none yet')
  found.specActions.updateUrl(address)
  found.specActions.updateLoadingStatus('success')
  const { securitySchemes } = document.components
  found.specActions.updateJsonSpec({ ...document, components: { securitySchemes } })
  return found
}

async function read(address: string) {
  const answer = await fetch(address)
  if (!answer.ok) throw new Error(String(answer.status))
  return answer.text()
}

function loadScript(src: string) {
  return new Promise((resolve, reject) => {
    const script = element('script', { src })
    script.addEventListener('load', resolve)
    script.addEventListener('error', reject)
    document.head.append(script)
  })
}

/** The button for a token, and the form: the page has the rest. */
function layout({ React }: Untyped) {
  const Panel = ({ getComponent }: Untyped) =>
    React.createElement(
      'div',
      { className: 'swagger-ui' },
      React.createElement(getComponent('SvgAssets')),
      React.createElement(getComponent('AuthorizeBtnContainer', true)),
      React.createElement(getComponent('operations', true)),
    )
  const OperationTag =
    () =>
    ({ children }: Untyped) =>
      children
  return { components: { Panel }, wrapComponents: { OperationTag, OperationSummary: () => () => null } }
}

/** The filter is the id of an operation. */
function chosenAlone() {
  const opsFilter = (tags: Untyped, id: string) => {
    const isChosen = (one: Untyped) => one.getIn(['operation', 'operationId']) === id
    return tags
      .map((tag: Untyped) => tag.update('operations', (all: Untyped) => all.filter(isChosen)))
      .filter((tag: Untyped) => tag.get('operations').size > 0)
  }
  return { fn: { opsFilter } }
}

/** Swagger UI's own takes the whole document apart for each operation, which takes a second. */
function resolver(document: Document) {
  const resolveSubtree = async (_: Untyped, path: string[]) => {
    const part = path.reduce((found: Untyped, name) => found?.[name], document)
    return { spec: resolved(document, part), errors: [] }
  }
  return { fn: { resolveSubtree } }
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

/** Texts and examples are made once: Swagger UI draws all that is open anew at each step of a request. */
function unchangedTexts() {
  const onChange = (component: Untyped, { React }: Untyped) => React.memo(component)
  return { wrapComponents: { HighlightCode: onChange, Markdown: onChange } }
}

/** Names, texts and numbers of JSON. */
const MARKED = /("(?:[^"\\]|\\.)*"(?=:))|("(?:[^"\\]|\\.)*")|(-?\d[\d.e+-]*)/

/** Code in the colours of the page, which the keyboard reaches; the editor says what it is. */
function ownColours({ React }: Untyped) {
  const SyntaxHighlighter = () => (props: Untyped) => {
    const text = String(props.children)
    const parts = props.language === 'json' ? text.split(MARKED) : [text]
    const marks = parts.map((part, at) => {
      const className = [undefined, 'name', 'string', 'number'][at % 4]
      return className && part ? React.createElement('span', { key: at, className }, part) : part
    })
    return React.createElement('pre', { className: 'microlight', tabIndex: 0 }, marks)
  }
  const TextArea = (Original: Untyped) => (props: Untyped) =>
    React.createElement(Original, { 'aria-label': docs.body, ...props })
  return { wrapComponents: { SyntaxHighlighter, TextArea } }
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
          React.createElement('summary', {}, docs.inQuery(beside.size)),
          isOpen && React.createElement(Original, others),
        ),
      )
    }
  return { wrapComponents: { parameters } }
}

/** An answer is moved into sight; its headers and what was asked are folded below it. */
function answerFirst() {
  const liveResponse = (Original: Untyped, { React }: Untyped) =>
    function Answer(props: Untyped) {
      const box = React.useRef(null)
      const { response } = props
      React.useEffect(() => void box.current?.scrollIntoView(), [response])
      const headers = response.get('headers').toJS()
      // It reads them by their names, and would list them unfolded.
      const named = { toJS: () => Object.create(headers) }
      const answer = React.useMemo(() => response.set('headers', named), [response])
      const lines = Object.entries(headers).map((header) => header.join(': '))
      return React.createElement(
        'div',
        { ref: box, className: 'executed' },
        React.createElement(Original, { ...props, response: answer }),
        React.createElement(
          'details',
          { className: 'asked' },
          React.createElement('summary', {}, docs.headers(response.get('duration'))),
          React.createElement('pre', { className: 'microlight', tabIndex: 0 }, lines.join('\n')),
        ),
      )
    }
  const curl = (Original: Untyped, { React }: Untyped) => {
    return (props: Untyped) =>
      React.createElement(
        'details',
        { className: 'asked' },
        React.createElement('summary', {}, docs.asCurl),
        React.createElement(Original, props),
      )
  }
  return { wrapComponents: { liveResponse, curl } }
}

/** It is open with a token. */
function padlock() {
  const authorizeBtn =
    (Original: Untyped, { React }: Untyped) =>
    (props: Untyped) =>
      React.createElement(Original, { ...props, isAuthorized: !props.isAuthorized })
  return { wrapComponents: { authorizeBtn } }
}
