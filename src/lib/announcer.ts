import { hostname } from 'node:os'

/** Says how the process itself is doing: that it starts, is ready, stops, or cannot go on. */
export interface Announcer {
  /** @param about what a program may want to know of it */
  say(message: string, about?: object): void
  /** Several lines for somebody at a terminal, which no program reads. */
  show(text: string): void
  warn(message: string): void
  fail(message: string): void
  /** For what nobody has foreseen. */
  crash(error: unknown): void
}

type AnnouncementFormat = 'text' | 'json'

/**
 * @param format lines for people, or the form of all other lines of the log
 * @param worker where this process is one of several
 */
export function announcerFor(format: AnnouncementFormat, worker?: number): Announcer {
  return format === 'json' ? jsonAnnouncer({ worker }) : textAnnouncer(worker)
}

/** What went wrong goes to standard error, the rest to standard output. */
function textAnnouncer(worker: number | undefined): Announcer {
  const name = worker === undefined ? 'agro' : `agro: worker ${worker}`
  return {
    say: (message) => console.log(`${name}: ${message}`),
    show: (text) => console.log(text),
    warn: (message) => console.error(`${name}: ${message}`),
    fail: (message) => console.error(`${name}: ${message}`),
    crash: (error) => console.error(error),
  }
}

/** The numbers by which the log calls its levels. */
const LEVELS = { info: 30, warn: 40, fatal: 60 }

function jsonAnnouncer(from: object): Announcer {
  const fail = (message: string) => console.error(lineOf('fatal', message, from))
  return {
    say: (message, about) => console.log(lineOf('info', message, { ...from, ...about })),
    show: () => {},
    warn: (message) => console.error(lineOf('warn', message, from)),
    fail,
    crash: (error) => fail(error instanceof Error ? String(error.stack) : String(error)),
  }
}

function lineOf(level: keyof typeof LEVELS, msg: string, about: object): string {
  const common = { level: LEVELS[level], time: Date.now(), pid: process.pid, hostname: hostname() }
  return JSON.stringify({ ...common, ...about, msg })
}
