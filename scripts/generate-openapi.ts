/**
 * Writes openapi.yaml from the routes; with --check, fails where the file differs from them.
 * No database is asked: the countries are those that a new one begins with.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { buildApp } from '#src/app.ts'
import { loadConfig } from '#src/config.ts'
import { serverCluster } from '#src/data/client.ts'
import { readReference } from '#src/data/reference.ts'
import { openapiYaml } from '#src/http/openapi/document.ts'

const FILE = new URL('../openapi.yaml', import.meta.url)

// A connection is made with the first query, and there is none.
const url = 'postgres://nowhere'
const config = loadConfig({ DATABASE_URL: url, JWT_SECRET: 'signs nothing '.repeat(3) })
const app = await buildApp(config, serverCluster(url, config).connect())
await app.ready()
const { countries } = await readReference()
const document = openapiYaml(app, countries)
await app.close()

if (process.argv.includes('--check')) {
  const present = await readFile(FILE, 'utf8').catch(() => '')
  if (present !== document) {
    console.error('openapi.yaml is not what the routes say: run `npm run gen` and commit it.')
    process.exitCode = 1
  }
} else {
  await writeFile(FILE, document)
}
