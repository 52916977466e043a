import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { TestDatabase } from './setup/database.ts'

export const ROOT = resolve(import.meta.dirname, '..')

export const isEmbedded = process.env.TEST_DATABASE_KIND === 'embedded'

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

/** What is not run: this test itself, and containers, whose images would have to be fetched. */
const ELSEWHERE = /^(npm test|.*docker compose up)$/gm

export function blocksOf(file: string): Block[] {
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
export class Reader {
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
