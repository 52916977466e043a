import { resolve } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { Writable } from 'node:stream'
import { OperatorError } from '#src/errors.ts'
import { decodeFile } from '#src/ingest/other-formats.ts'
import { spanText } from './table.ts'

/** Some commands have codes of their own, such as those for monitoring. */
export const EXIT = {
  done: 0,
  /** The operator can repair it. */
  refused: 1,
  usage: 2,
  /** A bug (EX_SOFTWARE of sysexits.h). */
  unexpected: 70,
  /** Ctrl-C, as in shells. */
  interrupted: 130,
} as const

export class ExitWith extends Error {
  readonly code: number

  constructor(code: number) {
    super(`exit code ${code}`)
    this.code = code
  }
}

/** Answers go to stdout; progress, notes and errors to stderr. */
export interface Output {
  json?: boolean
}

export function print({ json }: Output, value: unknown, text: string): void {
  console.log(json ? JSON.stringify(value, null, 2) : text)
}

/** Refuses, and still answers: in JSON, value and refusal are one document. */
export function refuse({ json }: Output, value: object, refusal: OperatorError, text?: string): never {
  if (json) refusal.answer = value
  else if (text !== undefined) console.log(text)
  throw refusal
}

export function report(message: string): void {
  console.error(message)
}

/** Programs that read stdout never see it. */
export function say(kind: 'note' | 'error' | 'allowed', sentence: string): void {
  console.error(`${kind}: ${sentence}`)
}

/** Aborted by a signal; without it a signal ends the command at once. */
let undoing: { controller: AbortController; sentence: string } | undefined

/** The work undoes itself when Ctrl-C or SIGTERM aborts the signal. @param what it does then @throws {ExitWith} then */
export async function undoneByInterrupt<Result>(
  work: (signal: AbortSignal) => Promise<Result>,
  what = 'what was begun is undone first',
): Promise<Result> {
  const controller = new AbortController()
  undoing = { controller, sentence: `Ending: ${what} (once more ends it at once).` }
  try {
    return await work(controller.signal)
  } finally {
    undoing = undefined
  }
}

/** The first signal lets the command undo its work; a second one ends it at once. */
export function interrupt(number: number): void {
  const code = 128 + number
  // The next line must not begin behind a progress bar.
  if (process.stderr.isTTY) process.stderr.write('\n')
  if (!undoing || undoing.controller.signal.aborted) process.exit(code)
  console.error(undoing.sentence)
  undoing.controller.abort(new ExitWith(code))
}

/** Questions go to stderr, so that stdout can be a file. */
export function isInteractive(): boolean {
  return Boolean(process.stdin.isTTY && process.stderr.isTTY)
}

/** Longer than any password: a wrongly named file is not read to its end. */
const LONGEST_INPUT = 4096

export interface Consent {
  yes?: boolean
}

/** Without a terminal, consent needs --yes. @param deed the start of a sentence: `This deletes ...` */
export async function confirm(deed: string, { yes }: Consent): Promise<void> {
  if (yes) return
  if (!isInteractive())
    throw new OperatorError(`${deed}: there is no terminal to confirm it. Add --yes.`, {
      code: 'CONFIRMATION',
    })
  const answer = await question(`${deed}. Go on? [y/N] `)
  if (!/^y(es)?$/i.test(answer.trim())) throw new OperatorError('Nothing was done.')
}

/** Typed twice without echo, or read from stdin. Other users of the machine see arguments. */
export async function readPassword(): Promise<string> {
  if (!isInteractive()) return readInput()
  const password = await question('Password: ', { hidden: true })
  if ((await question('The same again: ', { hidden: true })) === password) return password
  throw new OperatorError('The passwords do not match. Nothing was changed.')
}

async function readInput(): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of process.stdin) {
    chunks.push(Buffer.from(chunk))
    length += chunk.length
    if (length > LONGEST_INPUT) throw new OperatorError('What comes on stdin is too long to be a password.')
  }
  return decodeFile(Buffer.concat(chunks), { source: 'The password on stdin' }).replace(/\r?\n$/, '')
}

/**
 * Asks at the terminal.
 *
 * @param fresh what was typed before is no answer
 * @throws {unknown} the reason of an aborted signal
 */
export async function question(
  prompt: string,
  { hidden = false, fresh = false, signal }: { hidden?: boolean; fresh?: boolean; signal?: AbortSignal } = {},
): Promise<string> {
  if (fresh) await discardTyped()
  const lines = createInterface({
    input: process.stdin,
    signal,
    // With `terminal`, readline gets single keys, and the terminal echoes none.
    output: hidden ? new Writable({ write: (_chunk, _encoding, done) => done() }) : process.stderr,
    terminal: hidden,
  })
  // After readline is ready, so that early input stays hidden.
  process.stderr.write(prompt)
  try {
    return await answerTo(lines)
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  } finally {
    lines.close()
    if (hidden) process.stderr.write('\n')
  }
}

/** A terminal gives a line a read, and a begun one only as single keys. */
async function discardTyped(): Promise<void> {
  if (!process.stdin.isTTY) return
  let typed = true
  const hear = () => {
    typed = true
  }
  process.stdin.setRawMode(true).on('data', hear)
  while (typed) {
    typed = false
    // A turn begins the read, and one has what there is.
    for (let turn = 0; turn < 2; turn++) await new Promise(setImmediate)
  }
  process.stdin.off('data', hear).setRawMode(false).pause()
}

function answerTo(lines: Interface): Promise<string> {
  return new Promise((resolve, reject) => {
    lines.once('line', resolve)
    // In that mode Ctrl-C is a key.
    lines.once('SIGINT', () => reject(new ExitWith(EXIT.interrupted)))
    lines.once('close', () => reject(new OperatorError('Nothing was done.')))
  })
}

/** Resolves a path of the command line: `bin/agro.mjs` changes the folder, and says where the user stood. */
export function pathNamed(file: string): string {
  const standing = process.env.AGRO_STANDS_IN
  return standing === undefined || standing === process.cwd() ? file : resolve(standing, file)
}

const BAR_WIDTH = 30

/** Shorter work shows no progress. */
const SILENT_MS = 2000

const LINE_MS = 10_000

/** Shows the share from 0 to 1 and the time left: a bar on a terminal, else a line a tenth and every ten seconds. */
export function progressLine(
  label: string,
  output: NodeJS.WriteStream = process.stderr,
  silentMs = 0,
): (done: number) => void {
  const started = performance.now()
  let shown = silentMs > 0 ? undefined : -1
  let shownAt = started
  return (done) => {
    const now = performance.now()
    if (shown === undefined && (done >= 1 || now - started < silentMs)) return
    const step = Math.floor(done * (output.isTTY ? 100 : 10))
    const isDue = !output.isTTY && done < 1 && now - shownAt >= LINE_MS
    if (step === shown && !isDue) return
    shown = step
    shownAt = now
    const left = timeLeft(done, now - started)
    if (!output.isTTY) {
      output.write(`${label}: ${isDue ? Math.floor(done * 100) : step * 10} %${left}\n`)
      return
    }
    const filled = Math.round(done * BAR_WIDTH)
    const bar = `${'#'.repeat(filled)}${'.'.repeat(BAR_WIDTH - filled)}`
    // The line before may be longer.
    output.write(`\r${label} [${bar}] ${step} %${left}\u001b[K${done >= 1 ? '\n' : ''}`)
  }
}

/** Shows nothing of short work. */
export function progressIfLong(label: string, output?: NodeJS.WriteStream): (done: number) => void {
  return progressLine(label, output, SILENT_MS)
}

/** The rest is expected to take as long as the finished share. */
function timeLeft(done: number, passedMs: number): string {
  if (passedMs < SILENT_MS || done <= 0 || done >= 1) return ''
  return `, ${spanText(((passedMs / done) * (1 - done)) / 1000)} left`
}

/** Shows how long work without a foreseeable end takes. */
export async function whileShown<Result>(label: string, work: Promise<Result>): Promise<Result> {
  return work.finally(showPassing(label))
}

/** @returns ends it */
export function showPassing(label: string, output: NodeJS.WriteStream = process.stderr): () => void {
  const started = performance.now()
  let shown = false
  const timer = setInterval(
    () => {
      const passed = performance.now() - started
      if (passed < SILENT_MS) return
      shown = true
      const text = `${label}: ${Math.floor(passed / 1000)} s`
      output.write(output.isTTY ? `\r${text}` : `${text}\n`)
    },
    output.isTTY ? 1000 : LINE_MS,
  )
  return () => {
    clearInterval(timer)
    if (shown && output.isTTY) output.write('\n')
    shown = false
  }
}
