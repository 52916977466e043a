import { readFileSync, rmSync, statSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

/** What a process has to be loaded with to be asked what it holds. */
export const HELD_MEMORY = fileURLToPath(new URL('./held-memory.mjs', import.meta.url))

const POLL_MS = 20
const MIB = 2 ** 20

/**
 * Asks a process, which has loaded `held-memory.mjs`, for the memory that something is held in, in MiB: of its main
 * thread, and of the others together.
 *
 * @param file its HELD_MEMORY_FILE
 */
export async function askHeld(pid: number, file: string): Promise<{ main: number; threads: number }> {
  rmSync(file, { force: true })
  process.kill(pid, 'SIGUSR2')
  while (!statSync(file, { throwIfNoEntry: false })) await setTimeout(POLL_MS)
  const { main, threads } = JSON.parse(readFileSync(file, 'utf8'))
  return { main: main / MIB, threads: threads / MIB }
}
