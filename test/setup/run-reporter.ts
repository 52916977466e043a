import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Reporter, TestModule, TestSpecification, Vitest } from 'vitest/node'
import { POSTGRES_PROGRAMS } from '#bench/cluster.ts'
import { CHROMIUM } from './chromium.ts'
import { ownCpuSeconds } from './cpu-time.ts'
import { oneOfEach, type SentStatement } from './sent-statements.ts'
import { databaseUrl } from './server.ts'
import { hasSharedBoundaries, hasSharedRasters, SHARED_BOUNDARIES, SHARED_RASTERS } from './shared-data.ts'
import { mistakesOfRuns } from './statements.ts'
import { findShortFiles, findTestFiles } from './test-files.ts'

/** How many of the files that compute longest are named. */
const NAMED = 5

/**
 * Begins a run with what it runs and what it skips. Closes it with a line a
 * project, so that a log shows on which databases the tests ran and what they computed, and the total on a line of
 * its own.
 */
export default class RunReporter implements Reporter {
  readonly #isShort: boolean
  #vitest: Vitest | undefined

  /** `isShort`: whether it is the short run, which leaves most files with a database out. */
  constructor({ isShort }: { isShort: boolean }) {
    this.#isShort = isShort
  }

  onInit(vitest: Vitest): void {
    this.#vitest = vitest
  }

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    const counts = new Map<string, number>()
    for (const { project } of specifications) counts.set(project.name, (counts.get(project.name) ?? 0) + 1)
    const parts = [...counts].map(([name, count]) => `${count} of ${name}`)
    console.log(`Test files: ${parts.join(', ')}`)
    for (const skipped of this.#skipped(counts)) console.warn(`*** SKIPPED: ${skipped} ***`)
  }

  async onTestRunEnd(modules: readonly TestModule[]): Promise<void> {
    const projects = new Map<string, TestModule[]>()
    for (const module of modules) {
      const name = module.project.name
      projects.set(name, [...(projects.get(name) ?? []), module])
    }
    for (const [name, ofProject] of [...projects].sort()) {
      console.log(`${name}: ${summaryOf(ofProject)}, ${minutesText(secondsOf(ofProject))}`)
      console.log(`  most of it: ${dearestOf(ofProject)}`)
    }
    await this.#judgeStatements(projects)
    // Its own part made the databases that tests begin with, and read the files for all.
    console.log(`${summaryOf(modules)}, ${minutesText(secondsOf(modules) + ownCpuSeconds())}`)
    if (this.#isShort) console.log(describeLeftOut())
  }

  /**
   * Fails a whole run in which a statement is not sent, and one in which the embedded database cannot prepare what the server
   * was sent.
   */
  async #judgeStatements(projects: Map<string, TestModule[]>): Promise<void> {
    const [server, embedded] = [projects.get('server') ?? [], projects.get('embedded') ?? []]
    if (server.length === 0) return
    const files = findTestFiles(true)
    const isWhole =
      POSTGRES_PROGRAMS !== undefined &&
      server.length === files.server.length &&
      embedded.length === files.embedded.length &&
      !this.#vitest?.config.testNamePattern
    const sent = oneOfEach(server.flatMap((module) => module.meta().sent ?? []))
    const { PREPARE_STATEMENTS, RECORD_STATEMENTS } = process.env
    if (RECORD_STATEMENTS) await writeFile(RECORD_STATEMENTS, JSON.stringify(sent))
    const mistakes: string[] = []
    if (isWhole) {
      const judged = mistakesOfRuns([...server, ...embedded].map((module) => module.meta().statements ?? {}))
      console.log(`server and embedded: ${judged.ran} parts of statements ran`)
      mistakes.push(...judged.mistakes)
    }
    if (isWhole || PREPARE_STATEMENTS) {
      const begun = performance.now()
      mistakes.push(...(await this.#prepare(sent, server, embedded).catch((error) => [String(error?.stack)])))
      const seconds = ((performance.now() - begun) / 1000).toFixed(1)
      console.log(`embedded: ${sent.length} statements of the server prepared in ${seconds} s`)
    }
    if (mistakes.length === 0) return
    console.error(`${mistakes.join('\n')}\nCONTRIBUTING.md says what to do.`)
    process.exitCode = 1
  }

  async #prepare(sent: SentStatement[], server: TestModule[], embedded: TestModule[]): Promise<string[]> {
    const { mistakesOfSent } = await import('./prepared-statements.ts')
    const placeOf = ([module]: TestModule[]) => module?.project.getProvidedContext().templates
    const { server: url = '', folder = '' } = placeOf(server) ?? {}
    const others = placeOf(embedded)
    return mistakesOfSent(sent, {
      server: databaseUrl(url, await readFile(join(folder, 'empty'), 'utf8')),
      embedded: others && join(others.folder, 'empty'),
    })
  }

  /** What is not run because something is not there. */
  #skipped(counts: Map<string, number>): string[] {
    if (!counts.has('embedded') && !counts.has('server')) return []
    if (this.#isShort) return []
    const chosen = (this.#vitest?.config.project ?? []).length > 0
    const { embedded, server } = findTestFiles(counts.has('server'))
    const alone = server.filter((file) => !embedded.includes(file)).length
    return [
      !chosen && !counts.has('server')
        ? `the server database, and with it ${alone} files that run there alone. Set TEST_DATABASE_URL to a PostgreSQL with PostGIS whose user may create databases, or start Docker.`
        : [],
      CHROMIUM || !counts.has('server')
        ? []
        : `the page in a browser. Install Chromium, or set CHROME_PATH to one.`,
      POSTGRES_PROGRAMS || !counts.has('server')
        ? []
        : `a replica and backups. Install Debian's PostgreSQL with PostGIS.`,
      hasSharedRasters ? [] : `real rasters. There is no ${SHARED_RASTERS}.`,
      hasSharedBoundaries ? [] : `real boundaries. There is no ${SHARED_BOUNDARIES}.`,
    ].flat()
  }
}

/** What is left out of the short run. */
function describeLeftOut(): string {
  const all = findTestFiles(true)
  const short = findShortFiles(true).server
  const left = [...new Set([...all.embedded, ...all.server])].filter((file) => !short.includes(file))
  const rooms = [...new Set(left.map((file) => file.split('/')[1]).filter((name) => !name?.includes('.')))]
  return `Not run: ${left.length} files with a database, of ${rooms.join(', ')}.\n"npm run test:all" runs all, "npm test -- NAME" those of a folder or an extension.`
}

function secondsOf(modules: readonly TestModule[]): number {
  return modules.reduce((sum, module) => sum + (module.meta().cpuSeconds ?? 0), 0)
}

function minutesText(seconds: number): string {
  return `${(seconds / 60).toFixed(1)} CPU min`
}

function dearestOf(modules: readonly TestModule[]): string {
  return modules
    .toSorted((one, other) => secondsOf([other]) - secondsOf([one]))
    .slice(0, NAMED)
    .map((module) => `${module.relativeModuleId} ${secondsOf([module]).toFixed(0)} s`)
    .join(', ')
}

function summaryOf(modules: readonly TestModule[]): string {
  const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 }
  for (const module of modules) {
    for (const test of module.children.allTests()) counts[test.result().state]++
    // A file that cannot be loaded has no tests to fail.
    if (module.errors().length > 0) counts.failed++
  }
  const skipped = counts.skipped + counts.pending
  return `${counts.passed} passed, ${counts.failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}
