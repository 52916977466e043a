// Imported before a program: says at its end how much memory it had when it had most. The kernel's own peak for
// a process begins with that of its parent; this one is of the program alone.
import { readFileSync } from 'node:fs'

process.on('exit', () => {
  const [, peak] = /^VmHWM:\s+(\d+ kB)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  process.stderr.write(`peak memory: ${peak}\n`)
})
