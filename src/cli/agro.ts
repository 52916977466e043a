import { operate } from './program.ts'

process.exitCode = await operate(process.argv.slice(2))
