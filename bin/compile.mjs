// Makes the bundles of what is started, where the service itself may not write to its folder: node bin/compile.mjs
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './kept.mjs'
import { bundleOf, keepPages } from './typescript.mjs'

/** Extensions may have threads. */
const threads = readdirSync(join(ROOT, 'src'), { recursive: true })
  .filter((name) => name.endsWith('-thread.ts'))
  .map((name) => join('src', name))

for (const file of [
  'src/server.ts',
  'src/worker.ts',
  'src/data/embedded/worker.ts',
  'src/cli/agro.ts',
  ...threads,
]) {
  if (await bundleOf(join(ROOT, file))) continue
  console.error(
    `${file} cannot be bundled into node_modules/.cache. It runs without, and starts more slowly.`,
  )
  process.exitCode = 1
}

if (!(await keepPages())) {
  console.error(
    'The pages cannot be bundled into node_modules/.cache. They are bundled in memory then, by each process.',
  )
  process.exitCode = 1
}
