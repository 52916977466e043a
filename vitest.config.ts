import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { defineConfig, type TestProjectConfiguration } from 'vitest/config'

const TESTS = ['test/**/*.test.ts']
const ARCHITECTURE = 'test/architecture.test.ts'

/** Every test runs on the embedded and on the server database; see CONTRIBUTING.md. */
export default defineConfig(async () => {
  const projects: TestProjectConfiguration[] = [
    { test: { name: 'architecture', include: [ARCHITECTURE] } },
    databaseProject('embedded'),
  ]
  if (process.env.TEST_DATABASE_URL || (await dockerAnswers())) {
    projects.push(databaseProject('server'))
  } else {
    console.warn(
      '\n*** The server half of the tests is SKIPPED: set TEST_DATABASE_URL to a PostgreSQL with PostGIS ***' +
        '\n*** whose user may create databases, or start Docker.                                        ***\n',
    )
  }
  return {
    test: {
      projects,
      reporters: ['default', './test/setup/run-reporter.ts'],
      // Each embedded database takes about 1 GB.
      maxWorkers: 2,
    },
  }
})

function databaseProject(kind: 'embedded' | 'server'): TestProjectConfiguration {
  return {
    test: {
      name: kind,
      include: TESTS,
      exclude: [ARCHITECTURE],
      env: { TEST_DATABASE_KIND: kind },
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
