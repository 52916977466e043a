const BAR_WIDTH = 30

/** What takes no longer needs no sign of life. */
const SILENT_MS = 2000

/** Where nobody sees a bar, a line says so often how far something is. */
const LINE_MS = 10_000

/**
 * Shows how far something is, and from a while on the time that it will take: a bar that is redrawn on a terminal, and
 * elsewhere a line at every tenth and every ten seconds.
 *
 * @param started when it was begun, by `performance.now()`
 * @returns to be called with the part that is done, from 0 to 1
 */
export function progressLine(
  label: string,
  output: NodeJS.WriteStream = process.stderr,
  started = performance.now(),
): (done: number) => void {
  let shown = -1
  let shownAt = started
  return (done) => {
    const now = performance.now()
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
    // The line before may have been longer.
    output.write(`\r${label} [${bar}] ${step} %${left}\u001b[K${done >= 1 ? '\n' : ''}`)
  }
}

/** Does so, unless it is soon done. */
export function progressIfLong(
  label: string,
  output: NodeJS.WriteStream = process.stderr,
): (done: number) => void {
  const started = performance.now()
  let show: ((done: number) => void) | undefined
  return (done) => {
    if (!show && (done >= 1 || performance.now() - started < SILENT_MS)) return
    show ??= progressLine(label, output, started)
    show(done)
  }
}

/** The rest takes as long as what is done has taken. */
function timeLeft(done: number, passedMs: number): string {
  if (passedMs < SILENT_MS || done <= 0 || done >= 1) return ''
  return `, ${spanText((passedMs / done) * (1 - done))} left`
}

function spanText(ms: number): string {
  const seconds = Math.ceil(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.ceil(seconds / 60)
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** Shows for how long something has been going on whose end cannot be foreseen. */
export async function whileShown<Result>(
  label: string,
  work: Promise<Result>,
  output: NodeJS.WriteStream = process.stderr,
): Promise<Result> {
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
  try {
    return await work
  } finally {
    clearInterval(timer)
    if (shown && output.isTTY) output.write('\n')
  }
}
