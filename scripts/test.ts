/**
 * `npm test`: the short run, or all tests of the folders, extensions and files that are named. What begins with `-` is an
 * option of Vitest.
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { SHORT } from '#test/setup/test-files.ts'

const ROOT = resolve(import.meta.dirname, '..')

/** Where the tests of what is named lie: `src/history` and `history` in `test/history`, `packs` with its extension. */
function findTests(name: string): string {
  const path = name.replace(/^(src|test)\//, '').replace(/\/$/, '')
  const file = `test/${path.replace(/(\.test)?\.ts$/, '')}.test.ts`
  const folders = [`test/${path}`, `test/extensions/${path}`]
  const found = [file, ...folders].find((place) => existsSync(join(ROOT, place)))
  if (found) return found === file ? file : `${found}/`
  console.error(`No tests: ${[file, ...folders].join(', ')}. Name a folder of src or test, or an extension.`)
  process.exit(1)
}

const given = process.argv.slice(2)
const isOption = (one: string) => one.startsWith('-')
const named = given.filter((one) => !isOption(one)).map(findTests)
const scope = named.length > 0 ? named : ['--mode', SHORT]
const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs')
const parameters = [vitest, 'run', ...scope, ...given.filter(isOption)]
spawn(process.execPath, parameters, { cwd: ROOT, stdio: 'inherit' }).on('exit', (code) => {
  process.exitCode = code ?? 1
})
