import fp from 'fastify-plugin'
import type { App } from '../app.ts'
import { logOf } from '../module-log.ts'

/**
 * Logs each statement with how long it took, where LOG_MODULES says `database=debug`: its text, and never the values
 * that it is asked with. Many requests may wait for one statement, so that it belongs to none.
 */
export const statementLog = fp(
  async (app: App) => {
    const log = logOf(app, 'database')
    app.database.statements.on('asked', ({ query: { sql }, queryDurationMillis: ms, level }) => {
      log.debug({ sql, ms, failed: level === 'error' }, 'asked')
    })
  },
  { name: 'statement-log' },
)
