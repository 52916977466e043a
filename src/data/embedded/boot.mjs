// A thread begins with JavaScript: what lets Node import TypeScript is not there yet.
import { importTypeScript } from '../../../bin/typescript.mjs'

await importTypeScript(new URL('./worker.ts', import.meta.url))
