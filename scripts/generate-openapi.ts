/** Writes openapi.yaml from the routes; with --check, fails where the file differs from them. */
import { readFile, writeFile } from 'node:fs/promises'
import { openapiYaml } from '#src/http/openapi/document.ts'
import { makeFromRoutes } from './openapi.ts'

const FILE = new URL('../openapi.yaml', import.meta.url)

const document = await makeFromRoutes(openapiYaml)

if (process.argv.includes('--check')) {
  const present = await readFile(FILE, 'utf8').catch(() => '')
  if (present !== document) {
    console.error('openapi.yaml is not what the routes say: run `npm run gen` and commit it.')
    process.exitCode = 1
  }
} else {
  await writeFile(FILE, document)
}
