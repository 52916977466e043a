import { execFile } from 'node:child_process'
import { devNull } from 'node:os'
import { promisify } from 'node:util'
import { defineConfig, type TestProjectConfiguration, type ViteUserConfig } from 'vitest/config'
import { countStatements } from './test/setup/counted-statements.ts'
import { PATIENCE } from './test/setup/patience.ts'
import { RunOrder } from './test/setup/run-order.ts'
import { findShortFiles, findTestFiles, SHORT } from './test/setup/test-files.ts'

/**
 * Tests that need a database run on a server where there is one, and some on the embedded one; in the mode `short` some
 * of them, on either. See CONTRIBUTING.md.
 */
export default defineConfig(async ({ mode }): Promise<ViteUserConfig> => {
  const hasServer = await thereIsServer()
  const isShort = mode === SHORT
  const files = (isShort ? findShortFiles : findTestFiles)(hasServer)
  const projects = [unitProject(files.unit)]
  if (!(hasServer && isShort)) projects.push(databaseProject('embedded', files.embedded))
  if (hasServer) projects.push(databaseProject('server', files.server))
  return {
    test: {
      projects,
      sequence: { sequencer: RunOrder },
      teardownTimeout: TEARDOWN_MS,
      // By its path: what it imports is not for the changed sources of `npm run mutate`, which read this file, too.
      reporters: ['default', ['./test/setup/run-reporter.ts', { isShort }]],
      // On two cores two more have something to do while files wait: for browsers, other processes, and time. Each takes up
      // to 1.5 GB, of which its embedded database 0.8 GB.
      maxWorkers: isShort ? 2 : 4,
    },
  }
})

/** Runs the files of folders: those that need no database, and unless that is enough the others on one. */
export async function configOfFolders(folders: string[], withoutDatabase: boolean): Promise<ViteUserConfig> {
  const kind = (await thereIsServer()) ? 'server' : 'embedded'
  const files = findTestFiles(kind === 'server')
  const own = (some: string[]) => some.filter((file) => folders.some((folder) => file.startsWith(folder)))
  const unit = own(files.unit)
  const others = withoutDatabase ? [] : own(files[kind])
  const projects: TestProjectConfiguration[] = []
  if (unit.length > 0) projects.push(unitProject(unit))
  if (others.length > 0) projects.push(databaseProject(kind, others))
  return { test: { projects, teardownTimeout: TEARDOWN_MS } }
}

async function thereIsServer(): Promise<boolean> {
  const url = process.env.TEST_DATABASE_URL
  // Empty means none.
  return url === undefined ? await dockerAnswers() : url !== ''
}

/** A short run may end before its templates are made, which are removed then. */
const TEARDOWN_MS = 240_000

/** What holds for all projects. */
const COMMON = {
  // What a developer has set for a service of their own is not for those that tests start.
  env: { ENV_FILE: devNull },
  // A process runs one file after the other, with the modules and the embedded database that it has.
  isolate: false,
  expect: { poll: { timeout: PATIENCE.timeout } },
  setupFiles: ['test/setup/each-file.ts'],
}

function unitProject(include: string[]): TestProjectConfiguration {
  return { test: { ...COMMON, name: 'unit', include, testTimeout: 240_000, hookTimeout: 240_000 } }
}

function databaseProject(kind: 'embedded' | 'server', include: string[]): TestProjectConfiguration {
  return {
    plugins: [countStatements],
    test: {
      ...COMMON,
      name: kind,
      include,
      env: { ...COMMON.env, TEST_DATABASE_KIND: kind },
      globalSetup: [`test/setup/${kind}-templates.ts`],
      // Commands on the embedded database take seconds each, and several times that on a busy machine.
      testTimeout: 240_000,
      hookTimeout: 240_000,
    },
  }
}

async function dockerAnswers(): Promise<boolean> {
  return promisify(execFile)('docker', ['info'], { timeout: 10_000 }).then(
    () => true,
    () => false,
  )
}
