import { isOneOf } from './collections.ts'

export const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const

export type LogLevel = (typeof LOG_LEVELS)[number]

export function isDebugged(level: string | undefined): boolean {
  return level === 'debug' || level === 'trace'
}

/** Modules with a level of their own; `database` logs statements. */
const LOG_MODULES = [
  'advisory',
  'areas',
  'auth',
  'catalog',
  'database',
  'feedback',
  'history',
  'keys',
  'location',
  'service',
  'stats',
  'user',
] as const

export type LogModule = (typeof LOG_MODULES)[number]

/** @param item such as `auth=info` */
export function moduleAndLevel(item: string): [string, string] {
  const [module, level] = item.split('=').map((word) => word.trim()) as [string, string?]
  if (!isOneOf(LOG_MODULES, module) || !isOneOf(LOG_LEVELS, level)) {
    throw new Error(
      `LOG_MODULES must list modules with levels such as auth=info,database=debug, and "${item}" is not one of ` +
        `${LOG_MODULES.join(', ')} with one of ${LOG_LEVELS.join(', ')}`,
    )
  }
  return [module, level]
}
