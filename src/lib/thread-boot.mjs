// A thread begins with JavaScript: what lets Node import TypeScript is not there yet.
import { workerData } from 'node:worker_threads'
import { importTypeScript } from '../../bin/typescript.mjs'

await importTypeScript(new URL(workerData.file))
