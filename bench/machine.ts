import { readFileSync } from 'node:fs'
import { cpus, loadavg, release, totalmem, type } from 'node:os'
import { until } from './load/loops.ts'

/** More processes than this wanted to run already: what is measured is them as well. */
const BUSY_LOAD = 0.5

/** The system's load is a mean that remembers for so long what has ended. */
const FORGOTTEN_AFTER_MS = 180_000
const LOOK_EVERY_MS = 5000

/**
 * Processes that wanted to run in the minute before; figures of a busy machine are worth little. What has only just ended
 * is waited for.
 *
 * @param say tells that it waits
 */
export async function loadBefore(say: (message: string) => void): Promise<number> {
  const load = () => loadavg()[0] as number
  if (isBusy(load())) say(`this machine was busy (load ${load().toFixed(1)}): waiting until it is not`)
  await until(() => !isBusy(load()), FORGOTTEN_AFTER_MS, LOOK_EVERY_MS)
  return load()
}

export function isBusy(load: number): boolean {
  return load > BUSY_LOAD
}

/** What figures depend on, without a name of the machine or a path on it. */
export interface Machine {
  cpu: string
  cores: number
  memoryGiB: number
  system: string
  node: string
  postgresql: string | null
  postgis: string | null
}

export function describeMachine(versions?: { postgresql: string; postgis: string }): Machine {
  const [first] = cpus()
  return {
    cpu: first?.model.trim() || 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: systemName(),
    node: process.versions.node,
    postgresql: versions?.postgresql ?? null,
    postgis: versions?.postgis ?? null,
  }
}

function systemName(): string {
  try {
    const name = /^PRETTY_NAME="(.*)"$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1]
    if (name) return `${name}, ${type()} ${release().split('-')[0]}`
  } catch {
    // Not a Linux with that file.
  }
  return `${type()} ${release()}`
}
