// Runs a TypeScript file with its arguments: node bin/run.mjs FILE [ARGUMENT...]
import module from 'node:module'
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import './typescript.mjs'

// Node 22 and later keep what they have compiled. Not in the folder for everybody, where others may have put something.
module.enableCompileCache?.(fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url)))

const [file] = process.argv.splice(2, 1)
await import(pathToFileURL(resolve(file)).href)
