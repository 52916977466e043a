import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Whether a command can be run with these arguments. */
export function runs(command: string, ...args: string[]): Promise<boolean> {
  return run(command, args).then(
    () => true,
    () => false,
  )
}

/**
 * Runs a command with more in its environment.
 *
 * @returns what it wrote
 * @throws with what it said of itself, where it fails
 */
export async function runWith(
  environment: Record<string, string>,
  folder: string,
  command: string,
  ...args: string[]
): Promise<string> {
  const env = { ...process.env, ...environment }
  return (await run(command, args, { cwd: folder, env, maxBuffer: 64 * 1024 * 1024 })).stdout
}
