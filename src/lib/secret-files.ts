import { readFileSync } from 'node:fs'
import { messageOf } from './caught.ts'

/**
 * Adds to settings those that are in files, which their names with `_FILE` name.
 *
 * @throws {Error} where one is set twice, or its file cannot be read or is empty
 */
export function withSecretsOfFiles(set: NodeJS.ProcessEnv, names: readonly string[]): NodeJS.ProcessEnv {
  const files = names.flatMap((name) => {
    const file = set[`${name}_FILE`]
    if (file === undefined) return []
    if (set[name] !== undefined)
      throw new Error(`${name} and ${name}_FILE are both set: leave out one of them`)
    return [[name, secretIn(file, `${name}_FILE`)]]
  })
  return { ...set, ...Object.fromEntries(files) }
}

/** What a file holds, without the end of its last line, which editors and `echo` write. */
function secretIn(file: string, variable: string): string {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new Error(`${variable} cannot be read: ${messageOf(error)}`)
  }
  const secret = text.replace(/(\r?\n)+$/, '')
  if (secret === '') throw new Error(`${variable} names a file with nothing in it: ${file}`)
  return secret
}
