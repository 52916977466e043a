import { buildApp } from '#src/app.ts'
import { loadConfig } from '#src/config.ts'
import type { App } from '#src/http/app.ts'
import type { TestApp } from '#test/setup/app.ts'
import { captureLog } from '#test/setup/log.ts'

/** Works with a service of other settings on the same database, and closes it. */
export async function withOtherService<Result>(
  { testDatabase, database }: TestApp,
  settings: Record<string, string>,
  work: (app: App, log: string[]) => Promise<Result>,
): Promise<Result> {
  const app = await buildApp(loadConfig({ ...testDatabase.environment, ...settings }), database)
  const log = captureLog(app)
  await app.ready()
  return await work(app, log).finally(() => app.close())
}
