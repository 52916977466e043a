const BAR_WIDTH = 30

/**
 * Shows how far something is: a bar that is redrawn on a terminal, a line at every tenth elsewhere.
 *
 * @returns to be called with the part that is done, from 0 to 1
 */
export function progressLine(
  label: string,
  output: NodeJS.WriteStream = process.stderr,
): (done: number) => void {
  let shown = -1
  return (done) => {
    const step = Math.floor(done * (output.isTTY ? 100 : 10))
    if (step === shown) return
    shown = step
    if (!output.isTTY) {
      output.write(`${label}: ${step * 10} %\n`)
      return
    }
    const filled = Math.round(done * BAR_WIDTH)
    output.write(
      `\r${label} [${'#'.repeat(filled)}${'.'.repeat(BAR_WIDTH - filled)}] ${step} %${done >= 1 ? '\n' : ''}`,
    )
  }
}

/** What takes no longer needs no sign of life. */
const SILENT_MS = 2000

/** Shows on a terminal for how long something has been going on whose end cannot be foreseen. */
export async function whileShown<Result>(
  label: string,
  work: Promise<Result>,
  output: NodeJS.WriteStream = process.stderr,
): Promise<Result> {
  if (!output.isTTY) return work
  const started = Date.now()
  let shown = false
  const timer = setInterval(() => {
    const passed = Date.now() - started
    if (passed < SILENT_MS) return
    shown = true
    output.write(`\r${label}: ${Math.floor(passed / 1000)} s`)
  }, 1000)
  try {
    return await work
  } finally {
    clearInterval(timer)
    if (shown) output.write('\n')
  }
}
