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
