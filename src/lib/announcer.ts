import { hostname } from 'node:os'

/** Says how the process itself is doing: that it starts, is ready, stops, or cannot go on. */
export interface Announcer {
  /** @param about what a program may want to know of it */
  say(message: string, about?: object): void
  /** Several lines for somebody at a terminal, which no program reads. */
  show(text: string): void
  fail(message: string): void
  /** For what nobody has foreseen. */
  crash(error: unknown): void
}

/** In lines for people: what went wrong on standard error, the rest on standard output. */
export const TEXT_ANNOUNCER: Announcer = {
  say: (message) => console.log(`agro: ${message}`),
  show: (text) => console.log(text),
  fail: (message) => console.error(`agro: ${message}`),
  crash: (error) => console.error(error),
}

/** The numbers by which the log calls its levels. */
const LEVELS = { info: 30, fatal: 60 }

/** In JSON, in the form of all other lines of the log. */
export const JSON_ANNOUNCER: Announcer = {
  say: (message, about) => console.log(lineOf('info', message, about)),
  show: () => {},
  fail: (message) => console.error(lineOf('fatal', message)),
  crash: (error) =>
    console.error(lineOf('fatal', error instanceof Error ? String(error.stack) : String(error))),
}

function lineOf(level: keyof typeof LEVELS, msg: string, about?: object): string {
  const common = { level: LEVELS[level], time: Date.now(), pid: process.pid, hostname: hostname() }
  return JSON.stringify({ ...common, ...about, msg })
}
