import { randomBytes } from 'node:crypto'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Config, MINIMUM_SECRET_BYTES } from '#src/config.ts'
import { OperatorError } from '#src/errors.ts'

/** The secrets that access tokens are signed with: the first signs, all of them verify. */
export type Secrets = [current: string, ...previous: string[]]

/** @throws {OperatorError} when there is no secret on a server, which several processes may share */
export function refuseMissingSecret({ JWT_SECRET, DATABASE_URL }: Config): void {
  if (JWT_SECRET !== undefined || DATABASE_URL === undefined) return
  throw new OperatorError(
    'JWT_SECRET is not set: access tokens are signed with it, and every process on the database needs ' +
      'the same. `openssl rand -base64 48` makes one.',
  )
}

/**
 * The secrets of the configuration. With the embedded database, which belongs to one process, one is
 * made where none is set, and persisted beside the database.
 *
 * @throws {OperatorError} when there is none on a server
 */
export async function loadSecrets(config: Config): Promise<Secrets> {
  refuseMissingSecret(config)
  const { JWT_SECRET, JWT_SECRET_PREVIOUS, DATA_DIR } = config
  const current = JWT_SECRET ?? (await persistedSecret(DATA_DIR))
  return JWT_SECRET_PREVIOUS === undefined ? [current] : [current, JWT_SECRET_PREVIOUS]
}

async function persistedSecret(folder: string): Promise<string> {
  const path = join(folder, 'jwt-secret')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const made = randomBytes(48).toString('base64url')
  try {
    await writeFile(path, made, { flag: 'wx', mode: 0o600 })
    return made
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  await chmod(path, 0o600)
  const persisted = (await readFile(path, 'utf8')).trim()
  if (Buffer.byteLength(persisted) >= MINIMUM_SECRET_BYTES) return persisted
  throw new OperatorError(
    `${path} is shorter than ${MINIMUM_SECRET_BYTES} bytes: delete it, and a new one is made. Everyone then logs in again.`,
  )
}
