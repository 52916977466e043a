import { readErrorCode } from '#src/lib/promises.ts'
import { operate } from './program.ts'
import { interrupt } from './terminal.ts'

// As PID 1 of a container, a process without listeners would not end.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, (_name: string, number: number) => interrupt(number))
}

// `| head` closes the pipe after the first lines. The work goes on to its end.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error) => {
    if (readErrorCode(error) !== 'EPIPE') throw error
  })
}

process.exitCode = await operate(process.argv.slice(2))
