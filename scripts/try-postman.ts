/**
 * Has the collection that Postman makes of the document asked of a running service, by newman and through prism, which
 * holds requests and answers to the document.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'

/** What takes more than a document can have, by the reason. */
const LEFT_OUT: Record<string, string[]> = {
  'an admin': ['GET releases/:a/diff/:b', 'GET releases/:code/scorecard', 'GET stats/calls'],
  'a mail': [
    'POST auth/password/forgot',
    'POST auth/password/reset',
    'POST auth/confirm/resend',
    'POST auth/confirm',
  ],
  'a code of an app': ['POST auth/two-factor/confirm', 'POST auth/two-factor/disable'],
}

/** These end what others need, each more than the one before. */
const LAST = [
  'POST auth/logout',
  'DELETE history/:id/share',
  'DELETE history/:id',
  'DELETE subscriptions/:id',
  'DELETE auth/keys/:id',
  'DELETE auth/sessions/:id',
  'DELETE auth/sessions',
  'POST auth/password',
  'DELETE user/profile',
]

/** The account of the examples, which others may have made already. */
const EMAIL = 'amina@example.org'

interface Item {
  name: string
  item?: Item[]
  request: {
    method: string
    url: { path: string[]; variable?: { key: string; value: string }[] }
    body?: { raw?: string }
    auth?: object
  }
}

/** What there is to be asked about, in an account of its own. */
interface Provisions {
  email: string
  token: string
  /** Of another session. */
  refreshToken: string
  /** By the paths that they are of. */
  ids: Record<string, string>
  /** Of a session that logs out. */
  leaving: string
}

/**
 * @param folder has the packages of `generators/`
 * @param run runs a command there
 * @returns a line for each that failed, and one that counts
 */
export async function tryPostman(
  url: string,
  folder: string,
  run: (command: string) => boolean,
): Promise<{ lines: string[]; passed: boolean }> {
  const save = (name: string, content: unknown) => writeFile(join(folder, name), JSON.stringify(content))
  await save('gateway.json', await (await fetch(`${url}/openapi.json?media=all`)).json())
  // What is optional stays off: some of it excludes other.
  const options = 'parametersResolution=Example,enableOptionalParameters=false'
  const converted = run(`npm exec --no -- openapi2postmanv2 -s openapi.json -o collection.json -O ${options}`)
  if (!converted) return { lines: ['no collection was made'], passed: false }
  const collection = JSON.parse(await readFile(join(folder, 'collection.json'), 'utf8'))
  const all = requestsIn(collection.item)
  const without = Object.values(LEFT_OUT).flat()
  const asked = all.filter((item) => !without.includes(labelOf(item))).sort((a, b) => rankOf(a) - rankOf(b))
  const provisions = await provide(url)
  for (const item of asked) fill(item, provisions)
  const { port, gateway } = await startGateway(url, folder)
  try {
    const variables = { baseUrl: `http://127.0.0.1:${port}`, bearerToken: provisions.token, layer: '1' }
    const variable = Object.entries(variables).map(([key, value]) => ({ key, value }))
    await save('collection.json', { ...collection, item: asked, variable })
    run('npm exec --no -- newman run collection.json --reporters json --reporter-json-export asked.json')
  } finally {
    gateway.kill()
  }
  const { executions } = JSON.parse(await readFile(join(folder, 'asked.json'), 'utf8')).run
  const failed = (executions as { item: Item; response?: { code: number; stream: { data: number[] } } }[])
    .filter(({ response }) => response === undefined || response.code >= 400)
    .map(({ item, response }) => {
      const said = response ? Buffer.from(response.stream.data).toString().slice(0, 300) : 'no answer'
      return `postman: ${item.request.method} ${item.name}: ${response?.code} ${said}`
    })
  const reasons = Object.entries(LEFT_OUT).map(([reason, names]) => `${names.length} take ${reason}`)
  const succeeded = executions.length - failed.length
  return {
    lines: [...failed, `postman: ${succeeded} of ${asked.length} succeed; ${reasons.join(', ')}`],
    passed: failed.length === 0 && asked.length + without.length === all.length,
  }
}

function requestsIn(items: readonly Item[]): Item[] {
  return items.flatMap((item) => (item.item ? requestsIn(item.item) : [item]))
}

const labelOf = ({ request: { method, url } }: Item) => `${method} ${url.path.join('/')}`

const rankOf = (item: Item) => LAST.indexOf(labelOf(item))

/** Puts what there is in the place of what the examples speak of. */
function fill(item: Item, { email, refreshToken, ids, leaving }: Provisions): void {
  const label = labelOf(item)
  const { url, body } = item.request
  for (const variable of url.variable ?? []) {
    if (variable.key === 'id')
      variable.value =
        ids[
          url.path
            .slice(0, -1)
            .join('/')
            .replace(/\/:id.*/, '')
        ] ?? ''
  }
  if (body?.raw) {
    body.raw = body.raw
      .replace(EMAIL, label === 'POST auth/register' ? `new-${email}` : email)
      .replace(/("refresh_token": ")[^"]*/, `$1${refreshToken}`)
  }
  if (label === 'POST auth/logout') {
    item.request.auth = {
      type: 'bearer',
      bearer: [{ key: 'token', value: leaving, type: 'string' }],
    }
  }
}

type Member = 'access_token' | 'refresh_token' | 'history_id' | 'id'

async function provide(url: string): Promise<Provisions> {
  const email = `postman-${Date.now()}@example.org`
  const credentials = { email, password: 'teff grows at dawn' }
  const post = async (path: string, body: object, bearer?: string) => {
    const response = await fetch(`${url}/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(bearer && { authorization: `Bearer ${bearer}` }) },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`)
    return (await response.json()) as { [member in Member]: string }
  }
  await post('auth/register', { ...credentials, name: 'Postman' })
  const login = () => post('auth/login', credentials)
  const [own, other, leaving] = [await login(), await login(), await login()]
  const token = own.access_token
  const sessions = await fetch(`${url}/auth/sessions`, {
    headers: { authorization: `Bearer ${other.access_token}` },
  })
  const { items } = (await sessions.json()) as { items: { id: string; current: boolean }[] }
  const point = { lat: 9.5, lng: 38.5 }
  const { history_id } = await post('advisory/yield/point', point, token)
  const threshold = { kind: 'relative', value: 10 }
  const target = 'https://hooks.example.org/agro'
  const subscription = await post(
    'subscriptions',
    { product: 'yield', ...point, threshold, url: target },
    token,
  )
  const ids = {
    history: history_id,
    cite: (await post(`history/${history_id}/share`, {}, token)).id,
    subscriptions: subscription.id,
    'auth/keys': (await post('auth/keys', { name: 'postman', scopes: ['advisory'] }, token)).id,
    'auth/sessions': items.find(({ current }) => current)?.id ?? '',
  }
  return { email, token, refreshToken: other.refresh_token, ids, leaving: leaving.access_token }
}

/** Starts prism before the service; what is not as the document says is an error then. */
async function startGateway(url: string, folder: string): Promise<{ port: number; gateway: ChildProcess }> {
  const port = await freePort()
  const prism = join(folder, 'node_modules/@stoplight/prism-cli/dist/index.js')
  const gateway = spawn(
    process.execPath,
    [prism, 'proxy', 'gateway.json', url, '-p', String(port), '--errors'],
    {
      cwd: folder,
      stdio: 'ignore',
    },
  )
  for (let attempt = 0; attempt < 600; attempt++) {
    const answered = await fetch(`http://127.0.0.1:${port}/health/live`).catch(() => undefined)
    if (answered) return { port, gateway }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  gateway.kill()
  throw new Error('prism does not answer')
}

function freePort(): Promise<number> {
  const server = createServer()
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}
