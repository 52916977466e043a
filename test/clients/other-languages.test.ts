import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'
import { runs, runWith } from './run.ts'

const CLIENTS = resolve(import.meta.dirname, '../../clients')

const withPython = await runs('python3', '--version')
const withR = await runs('Rscript', '-e', 'library(jsonlite); library(curl)')

let service: TestAppWithPerson
let environment: Record<string, string>

beforeAll(async () => {
  service = await createTestAppWithPerson()
  await service.app.listen({ port: 0, host: '127.0.0.1' })
  environment = {
    AGRO_URL: `http://127.0.0.1:${(service.app.server.address() as AddressInfo).port}`,
    AGRO_KEY: service.person.access_token,
    // Nothing is written beside the sources.
    PYTHONDONTWRITEBYTECODE: '1',
  }
})
afterAll(() => service.close())

test.runIf(withPython)('the client for Python passes its own tests', async () => {
  await runWith(environment, `${CLIENTS}/python`, 'python3', '-m', 'unittest', 'test_agro_advisory')
})

test.runIf(withR)('the client for R passes its own tests', async () => {
  const output = await runWith(environment, `${CLIENTS}/r`, 'Rscript', '--vanilla', 'test-agro_advisory.R')
  expect(output).toContain('all passed')
})
