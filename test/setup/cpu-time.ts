import { readFileSync } from 'node:fs'

/** Seconds that this process has computed for, with all its threads. */
export function ownCpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

/** Seconds that its children have computed for, as far as they have ended. Linux alone tells. */
function childrensCpuSeconds(): number {
  if (process.platform !== 'linux') return 0
  // In hundredths of a second, behind the name of the command, which may have spaces.
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return (Number(fields[13]) + Number(fields[14])) / 100
}

let told = 0

/**
 * Seconds of this process and its children since the last call, or since the process began. What a database server
 * computes is not among them.
 */
export function cpuSecondsSince(): number {
  const seconds = ownCpuSeconds() + childrensCpuSeconds()
  const passed = seconds - told
  told = seconds
  return passed
}
