import { resolve } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { Writable } from 'node:stream'
import type { Command } from 'commander'
import { OperatorError } from '#src/errors.ts'

/** What the exit codes of commands say; those of `agro doctor` are its own. */
export const EXIT = {
  done: 0,
  /** Something is the operator's to mend, which a sentence has said. */
  refused: 1,
  /** The command was called wrongly. */
  usage: 2,
  /** A mistake of ours (EX_SOFTWARE of sysexits.h). */
  unexpected: 70,
  /** Ended by Ctrl-C, as shells say it. */
  interrupted: 130,
} as const

/** Ends a command with an exit code, once it has said all that there is to say. */
export class ExitWith extends Error {
  readonly code: number

  constructor(code: number) {
    super(`exit code ${code}`)
    this.code = code
  }
}

/** What a command tells goes to stdout, for people or for programs; whatever else there is to say to stderr. */
export interface Output {
  json?: boolean
}

export const JSON_OPTION = ['--json', 'answer in JSON, for programs'] as const

/** Prints what a program or else what a person is told. */
export function print({ json }: Output, value: unknown, text: string): void {
  console.log(json ? JSON.stringify(value, null, 2) : text)
}

/**
 * Ends a command that is refused and has something to tell all the same: of JSON, both make one document.
 *
 * @param text for people; nothing where it is left out
 */
export function refuse({ json }: Output, value: object, refusal: OperatorError, text?: string): never {
  if (json) refusal.told = value
  else if (text !== undefined) console.log(text)
  throw refusal
}

/** Says something beside what was asked for, which no program should take for a part of it. */
export function say(kind: 'note' | 'error' | 'allowed', sentence: string): void {
  console.error(`${kind}: ${sentence}`)
}

/** Shows below the help of a command how it is called. */
export function withExamples(command: Command, ...examples: string[]): Command {
  return command.addHelpText('after', ['', 'Examples:', ...examples.map((line) => `  ${line}`)].join('\n'))
}

/** What undoes itself when the command is to end; else a command ends at once. */
let undoing: AbortController | undefined

/**
 * Does work that undoes what it has done when its signal is aborted, by Ctrl-C or SIGTERM, before the command ends.
 *
 * @throws {ExitWith} where it was interrupted
 */
export async function undoneByInterrupt<Result>(
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController()
  undoing = controller
  try {
    return await work(controller.signal)
  } finally {
    undoing = undefined
  }
}

/**
 * Ends the command by a signal, when what it has begun is undone; a second one ends it at once.
 *
 * @param number of the signal
 */
export function interrupt(number: number): void {
  const code = 128 + number
  // What is said next does not begin behind a bar of progress.
  if (process.stderr.isTTY) process.stderr.write('\n')
  if (!undoing || undoing.signal.aborted) process.exit(code)
  console.error('Ending: what was begun is undone first (once more ends it at once).')
  undoing.abort(new ExitWith(code))
}

/** Whether there is somebody to ask; questions go to stderr, so that stdout can be a file. */
function isInteractive(): boolean {
  return Boolean(process.stdin.isTTY && process.stderr.isTTY)
}

/** More bytes than a password has: a file that was named by mistake is not read to its end. */
const LONGEST_INPUT = 4096

export const YES_OPTION = ['-y, --yes', 'do it without asking'] as const

export interface Consent {
  yes?: boolean
}

/**
 * Asks before something is destroyed. Where nobody can be asked, as in a script, it has to be said beforehand.
 *
 * @param deed what would be done, as the beginning of a sentence: `This deletes ... for good`
 * @throws {OperatorError} where nobody has agreed
 */
export async function confirm(deed: string, { yes }: Consent): Promise<void> {
  if (yes) return
  if (!isInteractive())
    throw new OperatorError(`${deed}: there is no terminal to confirm it. Add --yes.`, {
      code: 'CONFIRMATION',
    })
  const answer = await question(`${deed}. Go on? [y/N] `)
  if (!/^y(es)?$/i.test(answer.trim())) throw new OperatorError('Nothing was done.')
}

/**
 * A password that is typed twice without being seen, or else comes on stdin. It is never an argument, which
 * everybody on the machine could read.
 *
 * @throws {OperatorError} where both are not the same
 */
export async function readPassword(): Promise<string> {
  if (!isInteractive()) return readInput()
  const password = await question('Password: ', { hidden: true })
  if ((await question('The same again: ', { hidden: true })) === password) return password
  throw new OperatorError('The passwords do not match. Nothing was changed.')
}

/** What comes on stdin, without the end of its last line. */
async function readInput(): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of process.stdin) {
    chunks.push(Buffer.from(chunk))
    length += chunk.length
    if (length > LONGEST_INPUT) throw new OperatorError('What comes on stdin is too long to be a password.')
  }
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '')
}

async function question(prompt: string, { hidden = false } = {}): Promise<string> {
  const lines = createInterface({
    input: process.stdin,
    // With `terminal`, the keys come one by one and the terminal shows none of them: readline would do that.
    output: hidden ? new Writable({ write: (_chunk, _encoding, done) => done() }) : process.stderr,
    terminal: hidden,
  })
  // Only now, so that nothing is shown of what is typed at once.
  process.stderr.write(prompt)
  try {
    return await answerTo(lines)
  } finally {
    lines.close()
    if (hidden) process.stderr.write('\n')
  }
}

function answerTo(lines: Interface): Promise<string> {
  return new Promise((resolve, reject) => {
    lines.once('line', resolve)
    // Where keys come one by one, Ctrl-C is a key as well.
    lines.once('SIGINT', () => reject(new ExitWith(EXIT.interrupted)))
    lines.once('close', () => reject(new OperatorError('Nothing was done.')))
  })
}

/**
 * The path of a file that is named on the command line: relative to where its user stands, which `bin/agro.mjs` says before
 * it goes to the folder of the service.
 */
export function pathNamed(file: string): string {
  const standing = process.env.AGRO_STANDS_IN
  return standing === undefined || standing === process.cwd() ? file : resolve(standing, file)
}
