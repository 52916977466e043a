import { isOneOf } from './collections.ts'

export const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const

export type LogLevel = (typeof LOG_LEVELS)[number]

/** Whether a level has what is for those who look for a mistake. */
export function isDebugged(level: string | undefined): boolean {
  return level === 'debug' || level === 'trace'
}

/** What may be logged at a level of its own: the domains, and the statements that the database is asked. */
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

/**
 * A module and its level, as a setting has them: `auth=info`.
 *
 * @throws {Error} where it is none, naming all that there are
 */
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
