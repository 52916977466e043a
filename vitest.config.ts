import { execFile } from 'node:child_process'
import { devNull } from 'node:os'
import { promisify } from 'node:util'
import { defineConfig, type TestProjectConfiguration } from 'vitest/config'
import { PATIENCE } from './test/setup/patience.ts'
import { findTestFiles } from './test/setup/test-files.ts'

/** Tests that need a database run on a server where there is one, and some on the embedded one; see CONTRIBUTING.md. */
export default defineConfig(async () => {
  // Empty means none.
  const url = process.env.TEST_DATABASE_URL
  const hasServer = url === undefined ? await dockerAnswers() : url !== ''
  const files = findTestFiles(hasServer)
  const projects = [unitProject(files.unit), databaseProject('embedded', files.embedded)]
  if (hasServer) projects.push(databaseProject('server', files.server))
  return {
    test: {
      projects,
      reporters: ['default', './test/setup/run-reporter.ts'],
      // Each embedded database takes about 1 GB.
      maxWorkers: 2,
    },
  }
})

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
