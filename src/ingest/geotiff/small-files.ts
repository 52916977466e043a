import { readFile, stat } from 'node:fs/promises'
import { OperatorError } from '#src/errors.ts'
import { codeOf } from '#src/lib/caught.ts'

/**
 * The text of a file that may lie beside a raster; undefined where it does not.
 *
 * @throws {OperatorError} when it is too large or cannot be read
 */
export async function readSmallFile(path: string, maxBytes: number): Promise<string | undefined> {
  const refuse = (error: NodeJS.ErrnoException) => {
    if (codeOf(error) === 'ENOENT') return undefined
    throw new OperatorError(`${path} cannot be read: ${error.message}.`)
  }
  const status = await stat(path).catch(refuse)
  if (!status) return undefined
  if (status.size > maxBytes) {
    throw new OperatorError(`${path} has ${status.size} bytes; at most ${maxBytes} are read.`)
  }
  return readFile(path, 'utf8').catch(refuse)
}
