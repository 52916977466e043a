// Runs a TypeScript file with its arguments: node bin/run.mjs FILE [ARGUMENT...]
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import './typescript.mjs'

const [file] = process.argv.splice(2, 1)
await import(pathToFileURL(resolve(file)).href)
