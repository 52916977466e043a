/**
 * Changes the source of a room in small ways, one at a time, and sees which of the changes its own tests notice.
 * A change that survives is untested, or makes no difference.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import type { Mutant, MutantResult } from '@stryker-mutator/api/core'
import type { Logger } from '@stryker-mutator/api/logging'
import { Stryker } from '@stryker-mutator/core'
import { Instrumenter } from '@stryker-mutator/instrumenter'
import { Command } from 'commander'
import { draw } from './sample.mjs'

interface Options {
  sample: string
  seed: string
  tests?: string
  unit: boolean
  verbose: boolean
}

const command = new Command('npm run mutate --')
  .description('Change the source of a room in small ways, and see which changes its own tests notice.')
  .argument('<room>', 'a folder of both src and test: raster, lookup, advice/polygon')
  .option('--sample <number>', 'how many changes to try', '100')
  .option('--seed <text>', 'another seed draws other changes', '1')
  .option('--tests <folders>', 'folders and files of tests that are run, instead of those of the room')
  .option('--unit', 'run only the tests that need no database', false)
  .option('--verbose', 'show the messages of Stryker', false)
  .parse()
const [room = ''] = command.args
const { seed, tests = `test/${room}`, unit, verbose, ...options } = command.opts<Options>()
const sample = { size: Number(options.sample), seed }
const folders = tests.split(',').map((name) => (name.endsWith('.ts') ? name : `${name}/`))

process.env.MUTATE_FOLDERS = folders.join(',')
process.env.MUTATE_WITHOUT_DATABASE = `${unit}`
const started = Date.now()
const all = await listChanges()
const mutants = await new Stryker({
  // The source computes several times as long with all changes in it.
  mutate: draw(all, sample).map(rangeOf),
  testRunner: 'by-file',
  vitest: { configFile: 'scripts/mutate/vitest.config.ts', related: false },
  checkers: ['sample'],
  plugins: [
    '@stryker-mutator/vitest-runner',
    resolve('scripts/mutate/runner.mjs'),
    resolve('scripts/mutate/sample.mjs'),
  ],
  sample,
  concurrency: 1,
  // A busy machine is not an endless loop.
  timeoutMS: 120_000,
  dryRunTimeoutMinutes: 30,
  reporters: [],
  logLevel: verbose ? 'info' : 'error',
  disableTypeChecks: false,
  tempDirName: '.mutants',
  // Stryker rewrites it with the TypeScript of earlier versions.
  tsconfigFile: 'none',
  ignorePatterns: ['/data', '/bench', '/chaos', '/docs', '/clients'],
} as ConstructorParameters<typeof Stryker>[0]).runMutationTest()

const tried = mutants.filter(({ status }) => status !== 'CompileError' && status !== 'Ignored')
for (const mutant of tried.filter(survives).sort(byPlace)) console.log(textOf(mutant))
const count = (status: MutantResult['status']) => tried.filter((mutant) => mutant.status === status).length
const score = (100 * (1 - tried.filter(survives).length / tried.length)).toFixed(0)
console.log(
  `${room}: ${score} % of ${tried.length} (of ${all.length} changes, seed ${seed}) noticed: ` +
    `${count('Killed')} killed, ${count('Timeout')} out of time, ${count('RuntimeError')} not run; ` +
    `${count('Survived')} survived, ${count('NoCoverage')} not reached; ${((Date.now() - started) / 1000).toFixed(0)} s`,
)

/** All changes of the room, with lines from 0. */
async function listChanges(): Promise<readonly Mutant[]> {
  const silent = { debug() {}, info() {}, isDebugEnabled: () => false } as unknown as Logger
  const names = readdirSync(join('src', room), { recursive: true, encoding: 'utf8' })
  const files = names
    .filter((name) => name.endsWith('.ts'))
    .map((name) => resolve('src', room, name))
    .map((name) => ({ name, content: readFileSync(name, 'utf8'), mutate: true }))
  const options = { plugins: null, excludedMutations: [], ignorers: [], noHeader: false }
  return (await new Instrumenter(silent).instrument(files, options)).mutants
}

function rangeOf({ fileName, location: { start, end } }: Mutant): string {
  return `${relative('.', fileName)}:${start.line + 1}:${start.column}-${end.line + 1}:${end.column}`
}

function survives({ status }: MutantResult): boolean {
  return status === 'Survived' || status === 'NoCoverage'
}

function byPlace(one: MutantResult, other: MutantResult): number {
  return one.fileName.localeCompare(other.fileName) || one.location.start.line - other.location.start.line
}

/** Where a change is, what was there, and what is there instead. */
function textOf({ fileName, location: { start, end }, replacement = '', status }: MutantResult): string {
  const lines = readFileSync(fileName, 'utf8')
    .split('\n')
    .slice(start.line - 1, end.line)
  lines[lines.length - 1] = (lines.at(-1) ?? '').slice(0, end.column - 1)
  lines[0] = (lines[0] ?? '').slice(start.column - 1)
  const mark = status === 'NoCoverage' ? ' (not reached)' : ''
  return `${relative('.', fileName)}:${start.line}:${start.column}${mark}  ${shorten(lines.join('\n'))}  ->  ${shorten(replacement)}`
}

function shorten(code: string): string {
  const text = code.replace(/\s+/g, ' ')
  return text.length > 90 ? `${text.slice(0, 87)}...` : text
}
