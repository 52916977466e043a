import { indented, type LANGUAGES } from './code.ts'

/** Where the commands of the documents ask. The page has the address of the service instead. */
export const WRITTEN = 'http://127.0.0.1:3000'

interface Call {
  method: string
  /** With its query. */
  path: string
  needsToken: boolean
  answersJson: boolean
  body?: { mediaType: string; example: unknown }
}

/** Where it comes from. */
const TOKEN = 'the access_token of POST /auth/login, or a key'

/** A call in each language, as it would be written by hand. */
export function writeSamples(call: Call): Record<keyof typeof LANGUAGES, string> {
  const samples = { sh: writeCurl(call), js: writeJavaScript(call), python: writePython(call) }
  if (!call.needsToken) return samples
  return {
    sh: `# $TOKEN: ${TOKEN}\n${samples.sh}`,
    js: `// token: ${TOKEN}\n${samples.js}`,
    python: `# token: ${TOKEN}\n${samples.python}`,
  }
}

const JSON_TYPE = 'application/json'

function writeCurl({ method, path, needsToken, body }: Call): string {
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
  const head = method === 'get' ? 'curl' : `curl -X ${method.toUpperCase()}`
  const options = [
    ...(needsToken ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...(body ? [`-H 'Content-Type: ${body.mediaType}'`, `-d ${quoted(textOf(body))}`] : []),
  ]
  return [`${head} ${quoted(WRITTEN + path)}`, ...options].join(' \\\n  ')
}

const textOf = ({ mediaType, example }: { mediaType: string; example: unknown }) =>
  mediaType === JSON_TYPE ? indented(example, '  ') : String(example)

function writeJavaScript({ method, path, needsToken, answersJson, body }: Call): string {
  const headers = [
    ...(needsToken ? [`Authorization: \`Bearer \${token}\``] : []),
    ...(body ? [`'Content-Type': '${body.mediaType}'`] : []),
  ]
  const sent = body?.mediaType === JSON_TYPE ? `JSON.stringify(${indented(body.example, '  ')})` : ''
  const options = [
    ...(method === 'get' ? [] : [`method: '${method.toUpperCase()}'`]),
    ...(headers.length > 0 ? [`headers: { ${headers.join(', ')} }`] : []),
    ...(body ? [`body: ${sent || JSON.stringify(String(body.example))}`] : []),
  ]
  const init = options.length > 0 ? `, {\n  ${options.join(',\n  ')},\n}` : ''
  return `const response = await fetch('${WRITTEN}${path}'${init})
console.log(await response.${answersJson ? 'json' : 'text'}())`
}

function writePython({ method, path, needsToken, answersJson, body }: Call): string {
  const headers = [
    ...(needsToken ? [`'Authorization': f'Bearer {token}'`] : []),
    ...(body ? [`'Content-Type': '${body.mediaType}'`] : []),
  ]
  const isJson = body?.mediaType === JSON_TYPE
  const data = isJson ? 'json.dumps(body).encode()' : 'body.encode()'
  const request = [
    `'${WRITTEN}${path}'`,
    ...(method === 'get' ? [] : [`method='${method.toUpperCase()}'`]),
    ...(headers.length > 0 ? [`headers={${headers.join(', ')}}`] : []),
    ...(body ? [`data=${data}`] : []),
  ]
  const value = isJson ? inPython(indented(body?.example)) : JSON.stringify(String(body?.example))
  const answer = answersJson ? 'json.load(urlopen(request))' : 'urlopen(request).read()'
  return [
    ...(answersJson || isJson ? ['import json'] : []),
    'from urllib.request import Request, urlopen',
    '',
    ...(body ? [`body = ${value}`] : []),
    `request = Request(\n    ${request.join(',\n    ')},\n)`,
    `print(${answer})`,
  ].join('\n')
}

const WORDS: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' }

/** JSON as Python writes it: strings stay as they are. */
function inPython(json: string): string {
  return json.replaceAll(/"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g, (found) => WORDS[found] ?? found)
}
