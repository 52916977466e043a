import { serviceSchemas } from '#schemas/service.ts'
import type { App } from '#src/http/app.ts'
import { serviceRoutes } from './routes.ts'

/** The service itself: where to find what, and whether it is well. */
export async function service(app: App): Promise<void> {
  for (const schema of serviceSchemas) app.addSchema(schema)
  serviceRoutes(app)
  app.database.replica?.onChange(({ name, lagMs, reason }) => {
    const message = name === 'used' ? 'the replica is used again' : 'the replica is not used'
    app.log.warn({ replica: name, lagMs, reason }, message)
  })
}
