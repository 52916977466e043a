import { readFileSync } from 'node:fs'

/** What the kernel counts computing in: USER_HZ, which is 100 on all of Linux's common architectures. */
const TICKS_A_SECOND = 100

/** Seconds that processes have computed so far; those that have ended count nothing. Linux alone. */
export function cpuSecondsOf(pids: number[]): number {
  return pids.reduce((sum, pid) => sum + cpuSecondsOfOne(pid), 0)
}

function cpuSecondsOfOne(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name of the program, in brackets, may have spaces.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND
  } catch {
    return 0
  }
}
