// A thread begins with JavaScript: what lets Node import TypeScript is not there yet. `workerData.file` is the URL of its own.
import { workerData } from 'node:worker_threads'
import { importTypeScript } from '../../bin/typescript.mjs'

await importTypeScript(new URL(workerData.file))
