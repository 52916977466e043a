// Does commands of an operator one after the other, and tells of each how it ended and how much memory the process
// had when it had most. The kernel's own peak for a process begins with that of its parent; this one does not.
import { readFileSync } from 'node:fs'
import { operate } from '#src/cli/program.ts'

for (const parameters of JSON.parse(process.argv[2] as string)) {
  const code = await operate(parameters)
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  process.stdout.write('\0')
  process.stderr.write(`\0${JSON.stringify({ code, peakBytes: Number(kilobytes) * 1024 })}\0`)
}
