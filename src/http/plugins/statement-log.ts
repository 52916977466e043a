import fp from 'fastify-plugin'
import type { LogEvent } from 'kysely'
import type { App } from '../app.ts'
import { logOf } from '../module-log.ts'

/**
 * Logs each statement with how long it took, where LOG_MODULES says `database=debug`: its text, and never the values
 * that it is asked with. Many requests may wait for one statement, so that it belongs to none.
 */
export const statementLog = fp(
  async (app: App) => {
    const log = logOf(app, 'database')
    const tell = ({ query: { sql }, queryDurationMillis: ms, level }: LogEvent) => {
      log.debug({ sql, ms, failed: level === 'error' }, 'asked')
    }
    const { statements } = app.database
    statements.on('asked', tell)
    // The database may outlive the app, and be that of the next one.
    app.addHook('onClose', async () => void statements.off('asked', tell))
  },
  { name: 'statement-log' },
)
