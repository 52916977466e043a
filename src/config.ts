import { envSchema } from 'env-schema'
import { type Static, Type } from 'typebox'
import { OperatorError } from '#src/errors.ts'

const Environment = Type.Object({
  DATABASE_URL: Type.Optional(Type.String({ pattern: '^postgres(ql)?://' })),
  DATABASE_READ_URL: Type.Optional(Type.String({ pattern: '^postgres(ql)?://' })),
  DATABASE_POOL_SIZE: Type.Integer({ minimum: 1, maximum: 500, default: 10 }),
  DATABASE_QUEUE_LIMIT: Type.Integer({ minimum: 1, default: 2000 }),
  DATA_DIR: Type.String({ minLength: 1, default: './data' }),
  HOST: Type.String({ minLength: 1, default: '127.0.0.1' }),
  PORT: Type.Integer({ minimum: 0, maximum: 65535, default: 3000 }),
  BASE_PATH: Type.String({ pattern: '^(/[A-Za-z0-9._~-]+)*$', default: '' }),
  LOG_LEVEL: Type.Enum(['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'], { default: 'warn' }),
  DEMO_DATA: Type.Optional(Type.Boolean()),
  STATEMENT_TIMEOUT_MS: Type.Integer({ minimum: 100, default: 5000 }),
  BODY_LIMIT_BYTES: Type.Integer({ minimum: 1024, default: 1_048_576 }),
  SHUTDOWN_DELAY_MS: Type.Integer({ minimum: 0, default: 0 }),
})

/** The settings of a process; the README's table says what each one does. */
export type Config = Omit<Static<typeof Environment>, 'DEMO_DATA'> & { DEMO_DATA: boolean }

/**
 * Reads the configuration from environment variables.
 *
 * The demo data default to on where the database is the embedded one: nobody sets up a server to see
 * synthetic values, and nobody who only typed `npm start` wants to see an empty service.
 *
 * @throws {OperatorError} names the variable that is not valid
 */
export function loadConfig(environment: NodeJS.ProcessEnv = process.env): Config {
  try {
    // An empty variable is how compose files and shells say "not set".
    const data = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
    const settings = envSchema<Static<typeof Environment>>({ schema: Environment, data, env: false })
    return { ...settings, DEMO_DATA: settings.DEMO_DATA ?? settings.DATABASE_URL === undefined }
  } catch (error) {
    throw new OperatorError(
      `The configuration is not valid: ${(error as Error).message.replaceAll('env/', '')}.`,
    )
  }
}
