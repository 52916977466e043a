import { ExitWith } from './exit.ts'

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
