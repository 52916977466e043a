// Runs on both databases: the README is for the embedded one, the other documents are for a server.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '#bench/processes.ts'
import { createSecrets } from '#ops/messages/kannel.ts'
import { runAgro } from './setup/cli.ts'
import { createTestDatabase, type TestDatabase } from './setup/database.ts'
import { newFolder } from './setup/folders.ts'

const ROOT = resolve(import.meta.dirname, '..')

const isEmbedded = process.env.TEST_DATABASE_KIND === 'embedded'

/** A block of commands in a document. */
interface Block {
  commands: string
  /** Whether an error is what the document shows below. */
  refused: boolean
}

/**
 * An answer that is an error is a command that has failed. npm, and a process of its own, which take longer than what most
 * commands do, are for the first command alone: the test itself does what is sent to `$AGRO`. Vitest runs already: of what
 * it is asked to run, it is enough that it is there.
 */
const SHELL = `
curl() { command curl --no-progress-meter --fail-with-body "$@"; }
npm() {
  if [ "$asked" ] && [ "$1 $2 $3" = 'run agro --' ]; then shift 3; printf '%s\\0' "$@" | curl --data-binary @- "$AGRO"
  else asked=yes; command npm "$@"; fi
}
npx() { test "$1 $2 $3 $4" = 'vitest run --project unit' && test -f "$5"; }
set -o pipefail
`

/** Does the commands of the operator that come by HTTP, whose words end with a NUL; one that fails is answered 500. */
async function listenForCommands(testDatabase: TestDatabase, folder: string): Promise<Server> {
  const environment = { ...testDatabase.environment, AGRO_STANDS_IN: folder }
  const server = createServer(async (request, response) => {
    const words = (await text(request)).split('\0').slice(0, -1)
    const { code, stdout, stderr } = await runAgro({ environment }, ...words)
    response.writeHead(code === 0 ? 200 : 500).end(stdout + stderr)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

/** What is not run: this test itself, and containers, whose images would have to be fetched. */
const ELSEWHERE = /^(npm test|.*docker compose up)$/gm

function blocksOf(file: string): Block[] {
  const text = readFileSync(join(ROOT, file), 'utf8')
  const blocks = [...text.matchAll(/```sh\n([\s\S]*?)\n```\n(```json\n\{"error")?/g)].map(
    ([, commands = '', error]) => ({
      commands: commands.replaceAll(ELSEWHERE, '').trim(),
      refused: error !== undefined,
    }),
  )
  return blocks.filter(({ commands }) => commands !== '')
}

/**
 * A clone in which somebody follows the documents: with a shell that remembers what was set before, and the
 * service where `npm start` has been typed. It is stopped for the operator's commands where the database is embedded, which
 * has one process.
 */
class Reader {
  readonly #folder: string
  readonly #environment: NodeJS.ProcessEnv
  readonly #port: number
  readonly #shell: ChildProcessWithoutNullStreams
  #service: ChildProcessWithoutNullStreams | undefined

  constructor(folder: string, port: number, agro: string, { environment }: TestDatabase) {
    this.#folder = folder
    this.#port = port
    const { ENV_FILE: _, ...inherited } = process.env
    this.#environment = { ...inherited, ...environment, PORT: String(port), AGRO: agro }
    this.#shell = spawn('bash', { cwd: folder, env: this.#environment })
    this.#shell.stdin.write(SHELL)
  }

  /** Runs a block, and gives what it wrote and its first exit code other than 0. */
  async follow({ commands }: Block): Promise<{ code: number; output: string }> {
    if (/^npm start$/.test(commands)) return this.#start()
    const isOperators = commands.includes('npm run agro')
    if (isOperators && isEmbedded) await this.stop()
    if (!isOperators && !this.#service) await this.#start()
    return this.#run(commands.replaceAll('127.0.0.1:3000', `127.0.0.1:${this.#port}`))
  }

  async #start(): Promise<{ code: number; output: string }> {
    const service = spawn('npm', ['start'], { cwd: this.#folder, env: this.#environment, detached: true })
    this.#service = service
    let output = ''
    return new Promise((ready, fail) => {
      service.stderr.on('data', (text) => {
        output += text
      })
      service.stdout.on('data', (text) => {
        output += text
        if (/ready in/.test(output)) ready({ code: 0, output })
      })
      service.once('close', () => fail(new Error(`the service ended:\n${output}`)))
    })
  }

  #run(commands: string): Promise<{ code: number; output: string }> {
    const { stdin, stdout, stderr } = this.#shell
    let output = ''
    return new Promise((done) => {
      const collect = (text: Buffer) => {
        output += text
        const end = /\nended with (\d+)\n/.exec(output)
        if (!end) return
        stdout.off('data', collect)
        stderr.off('data', collect)
        done({ code: Number(end[1]), output: output.slice(0, end.index) })
      }
      stdout.on('data', collect)
      stderr.on('data', collect)
      stdin.write(
        `failed=0; trap 'failed=$?' ERR\n${commands}\ntrap - ERR; printf '\\nended with %s\\n' $failed\n`,
      )
    })
  }

  async stop(): Promise<void> {
    const service = this.#service
    this.#service = undefined
    if (!service || service.exitCode !== null) return
    service.removeAllListeners('close')
    const closed = new Promise((resolve) => service.once('close', resolve))
    // As Ctrl-C does, which a terminal sends to npm and to what it has started.
    process.kill(-(service.pid as number), 'SIGINT')
    await closed
  }

  async leave(): Promise<void> {
    await this.stop()
    this.#shell.kill()
  }
}

let testDatabase: TestDatabase
let commands: Server
let reader: Reader
beforeAll(async () => {
  const folder = await newFolder()
  for (const name of readdirSync(ROOT)) {
    if (!['.git', '.env', 'data', 'secrets'].includes(name)) symlinkSync(join(ROOT, name), join(folder, name))
  }
  testDatabase = await createTestDatabase('demo', {
    JWT_SECRET: 'for whoever reads the documents '.repeat(2),
    ...createSecrets(),
    SIGNING_KEY: String(generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' })),
    // What the operator has done is seen at once.
    RELEASE_MAX_AGE_MS: '0',
  })
  commands = await listenForCommands(testDatabase, folder)
  const agro = `http://127.0.0.1:${(commands.address() as AddressInfo).port}`
  reader = new Reader(folder, await freePort(), agro, testDatabase)
})
afterAll(async () => {
  await reader.leave()
  commands.close()
  await testDatabase.drop()
})

describe.sequential('the commands run as they are written, one after the other, in', () => {
  const pagesOfServer = [
    'docs/guide/integrators.md',
    'docs/guide/agents.md',
    'docs/guide/calls.md',
    'docs/guide/citations.md',
    'docs/guide/signatures.md',
    'docs/guide/quantities.md',
    'docs/guide/messages.md',
    'docs/guide/packs.md',
    'docs/api.md',
    'docs/countries.md',
    'docs/guide/operators.md',
    'docs/operations.md',
    'docs/guide/contributors.md',
    'docs/guide/subscriptions.md',
  ]
  const pages = isEmbedded ? ['README.md'] : pagesOfServer
  describe.each(pages)('%s', (page) => {
    test.each(blocksOf(page))('$commands', async (block) => {
      const { code, output } = await reader.follow(block)
      expect(code === 0, output).toBe(!block.refused)
    })
  })
})
