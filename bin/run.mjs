// Runs a TypeScript file with its arguments: node bin/run.mjs FILE [ARGUMENT...]
import { resolve } from 'node:path'
import { importTypeScript } from './typescript.mjs'

const [file] = process.argv.splice(2, 1)
await importTypeScript(resolve(file))
