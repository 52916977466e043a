import { afterAll, beforeAll } from 'vitest'
import type { TestAppOptions } from './app.ts'
import { createTestAppWithPerson, type TestAppWithPerson } from './people.ts'

/**
 * Has the service run for the tests of a file, or of a `describe`, and somebody who has logged in to it. It is started
 * before the first of them and stopped after the last, so that nothing of it can be used sooner.
 */
export function openService(options: TestAppOptions = {}): TestAppWithPerson {
  const service = {} as TestAppWithPerson
  beforeAll(async () => {
    Object.assign(service, await createTestAppWithPerson(options))
  })
  afterAll(() => service.close())
  return service
}
