const BAR_WIDTH = 30

/** Shorter work shows no progress. */
const SILENT_MS = 2000

/** Interval of lines without a terminal. */
const LINE_MS = 10_000

/**
 * Shows progress and, after a while, the time left: a bar on a terminal, else a line a tenth and every ten seconds.
 *
 * @returns takes the finished share, from 0 to 1
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
    // The line before may be longer.
    output.write(`\r${label} [${bar}] ${step} %${left}\u001b[K${done >= 1 ? '\n' : ''}`)
  }
}

/** Stays silent for short work. */
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

/** The rest is expected to take as long as the finished share. */
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

/** For work without a foreseeable end. */
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
