import { afterAll, beforeAll } from 'vitest'
import { createTestApp, type TestApp, type TestAppOptions } from './app.ts'
import { createTestDatabase, type OpenTestDatabase, openTestDatabase, type TestDatabase } from './database.ts'
import { createTestAppWithPerson, type TestAppWithPerson } from './people.ts'
import type { Template } from './templates.ts'

/**
 * Has something run for the tests of a file, or of a `describe`. It is started before the first of them and stopped after
 * the last, so that nothing of it can be used sooner.
 */
export function openFor<Opened extends { close(): Promise<unknown> }>(
  start: () => Promise<Opened>,
): Readonly<Opened> {
  const opened = {} as Opened
  beforeAll(async () => {
    Object.assign(opened, await start())
  })
  afterAll(() => opened.close?.())
  return opened
}

/** Has the service run so. */
export const openApp = (options?: TestAppOptions): TestApp => openFor(() => createTestApp(options))

/** Has the service run so, and somebody who has logged in to it. */
export const openService = (options?: TestAppOptions): TestAppWithPerson =>
  openFor(() => createTestAppWithPerson(options))

/** Has a database open so, as an operator's commands have it. */
export const openDatabase = (template: Template): OpenTestDatabase =>
  openFor(() => openTestDatabase(template))

/** Has a database so that any process may open. */
export const ownDatabase = (template: Template, settings?: Record<string, string>): TestDatabase =>
  openFor(async () => {
    const testDatabase = await createTestDatabase(template, settings)
    return { ...testDatabase, close: testDatabase.drop }
  })
