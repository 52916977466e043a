import { createInterface, type Interface } from 'node:readline'
import { Writable } from 'node:stream'
import { OperatorError } from '#src/errors.ts'
import { EXIT, ExitWith } from './exit.ts'

/** Whether there is somebody to ask; questions go to stderr, so that stdout can be a file. */
export function isInteractive(): boolean {
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
