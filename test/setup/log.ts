import type { App } from '#src/http/app.ts'

/** What pino would write, instead of its being written. */
export function captureLog(app: App): string[] {
  const lines: string[] = []
  let holder: object | null = app.log
  while (holder) {
    const symbol = Object.getOwnPropertySymbols(holder).find(
      ({ description }) => description === 'pino.stream',
    )
    const stream = symbol && (holder as Record<symbol, { write(line: string): void }>)[symbol]
    if (stream) {
      stream.write = (line) => lines.push(line)
      return lines
    }
    holder = Object.getPrototypeOf(holder)
  }
  throw new Error('pino keeps its stream elsewhere')
}
