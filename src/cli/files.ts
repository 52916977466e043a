import { resolve } from 'node:path'

/**
 * The path of a file that is named on the command line: relative to where its user stands, which `bin/agro.mjs` says before
 * it goes to the folder of the service.
 */
export function pathNamed(file: string): string {
  const standing = process.env.AGRO_STANDS_IN
  return standing === undefined || standing === process.cwd() ? file : resolve(standing, file)
}
