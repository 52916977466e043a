import { execFile } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Cleanup, temporaryFolder } from '#bench/cleanup.ts'
import { OperatorError } from '#src/errors.ts'
import { readErrorCode } from '#src/lib/promises.ts'

const execute = promisify(execFile)

const NPM_CI = ['ci', '--omit=dev', '--no-audit', '--no-fund', '--loglevel=error']

/**
 * Puts a version that was tagged into a folder of its own, with its packages.
 *
 * @returns the folder, which is removed at the end
 * @throws {OperatorError} where there is no such tag, no git, or a package cannot be had
 */
export async function checkOut(cleanup: Cleanup, tag: string): Promise<string> {
  const parent = temporaryFolder(cleanup, 'chaos-version')
  const [archive, folder] = [join(parent, 'archive.tar'), join(parent, 'version')]
  mkdirSync(folder)
  await run('git', ['archive', `--output=${archive}`, `refs/tags/${tag}`], '.', `${tag} cannot be had`)
  await run('tar', ['-xf', archive], folder, `${tag} cannot be unpacked`)
  await run('npm', NPM_CI, folder, `the packages of ${tag} cannot be installed`)
  return folder
}

async function run(program: string, parameters: string[], cwd: string, failure: string): Promise<void> {
  try {
    await execute(program, parameters, { cwd })
  } catch (error) {
    const { stderr } = error as { stderr?: string }
    const reason = readErrorCode(error) === 'ENOENT' ? `there is no ${program} here` : stderr?.trim()
    throw new OperatorError(`${failure}: ${reason}.`)
  }
}
