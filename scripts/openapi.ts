import { buildApp } from '#src/app.ts'
import { loadConfig } from '#src/config.ts'
import { serverCluster } from '#src/data/client.ts'
import { readReference } from '#src/data/reference.ts'
import type { App } from '#src/http/app.ts'
import type { DocumentCountry } from '#src/http/openapi/document.ts'

/** The document of the routes. No database is asked: the countries are those that a new one begins with. */
export async function makeFromRoutes<Made>(
  make: (app: App, countries: DocumentCountry[]) => Made,
): Promise<Made> {
  // A connection is made with the first query, and there is none.
  const url = 'postgres://nowhere'
  const config = loadConfig({ DATABASE_URL: url, JWT_SECRET: 'signs nothing '.repeat(3) })
  const app = await buildApp(config, serverCluster(url, config).connect())
  await app.ready()
  const { countries } = await readReference()
  const document = make(app, countries)
  await app.close()
  return document
}
