import { readFileSync, rmSync, statSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

/** What a process has to be loaded with to be asked what it holds. */
export const HELD_MEMORY = fileURLToPath(new URL('held-memory.mjs', import.meta.url))

const POLL_MS = 20

/**
 * Asks a process, which has loaded `held-memory.mjs`, for the bytes of its memory that something is held in.
 *
 * @param file its HELD_MEMORY_FILE
 */
export async function heldBytes(pid: number, file: string): Promise<number> {
  rmSync(file, { force: true })
  process.kill(pid, 'SIGUSR2')
  while (!statSync(file, { throwIfNoEntry: false })) await setTimeout(POLL_MS)
  return Number(readFileSync(file, 'utf8'))
}
