// A process begins with JavaScript: what lets Node import TypeScript is not there yet.
import { importTypeScript } from '../../../../bin/typescript.mjs'

await importTypeScript(new URL('./process.ts', import.meta.url))
