import { hostname } from 'node:os'

export interface Announcer {
  /** @param about data for programs */
  say(message: string, about?: object): void
  /** Several lines for a terminal. */
  show(text: string): void
  warn(message: string): void
  fail(message: string): void
  /** For unexpected errors. */
  crash(error: unknown): void
}

type AnnouncementFormat = 'text' | 'json'

/** @param worker number of the process among several */
export function announcerFor(format: AnnouncementFormat, worker?: number): Announcer {
  return format === 'json' ? jsonAnnouncer({ worker }) : textAnnouncer(worker)
}

/** Warnings and failures go to standard error. */
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

/** Levels of the log by number. */
const LEVELS = { info: 30, warn: 40, fatal: 60 }

function jsonAnnouncer(from: object): Announcer {
  const fail = (message: string) => console.error(formatLine('fatal', message, from))
  return {
    say: (message, about) => console.log(formatLine('info', message, { ...from, ...about })),
    show: () => {},
    warn: (message) => console.error(formatLine('warn', message, from)),
    fail,
    crash: (error) => fail(error instanceof Error ? String(error.stack) : String(error)),
  }
}

function formatLine(level: keyof typeof LEVELS, msg: string, about: object): string {
  const common = { level: LEVELS[level], time: Date.now(), pid: process.pid, hostname: hostname() }
  return JSON.stringify({ ...common, ...about, msg })
}
