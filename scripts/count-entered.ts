/**
 * Lists the files of `src` and `schemas` that a warm service enters for an answer, a point or a polygon, with the functions
 * that have a name.
 *
 *     node --import tsx scripts/count-entered.ts
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { loadConfig } from '#src/config.ts'
import { openCluster } from '#src/data/client.ts'
import { announcerFor } from '#src/lib/announcer.ts'
import { run } from '#src/start.ts'

const ROOT = join(import.meta.dirname, '..')
const CORNERS = [
  [38.4, 9.4],
  [38.6, 9.4],
  [38.6, 9.6],
  [38.4, 9.6],
  [38.4, 9.4],
]
const REQUESTS = {
  point: ['/advisory/fertilizer/point?lat=9.5&lng=38.5&crop=wheat&country_code=eth', undefined],
  polygon: [
    '/advisory/fertilizer',
    { crop: 'wheat', country_code: 'eth', geometry: { type: 'Polygon', coordinates: [CORNERS] } },
  ],
} as const

/** A file counts where each round enters it: work in the background is in some rounds alone. */
const ROUNDS = 5

const folder = mkdtempSync(join(tmpdir(), 'agro-entered-'))
process.on('exit', () => rmSync(folder, { recursive: true }))
const PORT = 43_117
const config = loadConfig({ PORT: String(PORT), DATA_DIR: folder })
const cluster = await openCluster(config, () => undefined)
const quiet = { ...announcerFor('text'), say: () => undefined, show: () => undefined }
const service = await run(config, cluster, { announcer: quiet, seconds: () => 0, opened: Promise.resolve() })
const session = new Session()
session.connect()
await session.post('Profiler.enable')
const authorization = await logIn()
while ('demo' in (await readHealth())) await setTimeout(100)
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
for (const [name, [path, body]] of Object.entries(REQUESTS)) {
  for (let round = 0; round < ROUNDS; round++) await ask(path, body)
  let entered = await enteredBy(path, body)
  for (let round = 1; round < ROUNDS; round++) {
    const again = await enteredBy(path, body)
    entered = new Map([...entered].filter(([file]) => again.has(file)))
  }
  const lines = [...entered].map(([file, names]) => `  ${file}: ${names.join(' ')}`)
  console.log(`${name}: ${lines.length}\n${lines.sort().join('\n')}`)
}
await service.stop()

/** What it says while it loads further demo data, whose statements would count. */
async function readHealth(): Promise<object> {
  const response = await fetch(`http://127.0.0.1:${PORT}/health/ready`)
  return (await response.json()) as object
}

async function logIn(): Promise<string> {
  const person = { name: 'Reader', email: 'reader@example.org', password: 'reads-the-source-code' }
  await ask('/auth/register', person)
  const { access_token: token } = JSON.parse(await ask('/auth/login', person))
  return `Bearer ${token}`
}

/** A point is asked by an anonymous caller, who sends no body. */
async function ask(path: string, body: object | undefined): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${PORT}${path}`, {
    method: 'POST',
    ...(body && {
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...(path.startsWith('/advisory') && { authorization }) },
    }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  return text
}

async function enteredBy(path: string, body: object | undefined): Promise<Map<string, string[]>> {
  // This resets the counts.
  await session.post('Profiler.takePreciseCoverage')
  await ask(path, body)
  const { result } = await session.post('Profiler.takePreciseCoverage')
  const scripts = result.filter(({ url }) => url.startsWith('file:'))
  const entered = scripts.map(({ url, functions }): [file: string, functions: typeof functions] => [
    relative(ROOT, fileURLToPath(url)),
    functions.filter(isEntered),
  ])
  const own = entered.filter(([file, functions]) => /^(?:src|schemas)\//.test(file) && functions.length > 0)
  return new Map(own.map(([file, functions]) => [file, namesOf(functions)]))
}

function namesOf(functions: { functionName: string }[]): string[] {
  const names = functions.map(({ functionName }) => functionName).filter((name) => /^[#\w]+$/.test(name))
  return [...new Set(names)].filter((name) => !name.startsWith('__')).sort()
}

/** The text of the module itself begins at 0. */
function isEntered({ ranges: [whole] }: { ranges: { startOffset: number; count: number }[] }): boolean {
  return whole !== undefined && whole.startOffset > 0 && whole.count > 0
}
