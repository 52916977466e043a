// A worker thread does not inherit the loader that lets Node 20 read TypeScript.
import '../../../bin/typescript.mjs'

await import('./worker.ts')
