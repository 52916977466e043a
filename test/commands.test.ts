// Runs on both databases: the README is for the embedded one, the other documents are for a server.
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, symlinkSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '#bench/processes.ts'
import { createSecrets } from '#ops/messages/kannel.ts'
import { blocksOf, isEmbedded, Reader, ROOT } from './document-reader.ts'
import { runAgro } from './setup/cli.ts'
import { createTestDatabase, type TestDatabase } from './setup/database.ts'
import { newFolder } from './setup/folders.ts'

/** Does the commands of the operator that come by HTTP, whose words end with a NUL; one that fails is answered 500. */
async function listenForCommands(testDatabase: TestDatabase, folder: string): Promise<Server> {
  const environment = { ...testDatabase.environment, AGRO_STANDS_IN: folder }
  const server = createServer(async (request, response) => {
    const words = (await text(request)).split('\0').slice(0, -1)
    const { code, stdout, stderr } = await runAgro({ environment }, ...words)
    response.writeHead(code === 0 ? 200 : 500).end(stdout + stderr)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

let testDatabase: TestDatabase
let commands: Server
let reader: Reader
beforeAll(async () => {
  const folder = await newFolder()
  for (const name of readdirSync(ROOT)) {
    if (!['.git', '.env', 'data', 'secrets'].includes(name)) symlinkSync(join(ROOT, name), join(folder, name))
  }
  testDatabase = await createTestDatabase('demo', {
    JWT_SECRET: 'for whoever reads the documents '.repeat(2),
    ...createSecrets(),
    SIGNING_KEY: String(generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' })),
    // What the operator has done is seen at once.
    RELEASE_MAX_AGE_MS: '0',
  })
  commands = await listenForCommands(testDatabase, folder)
  const agro = `http://127.0.0.1:${(commands.address() as AddressInfo).port}`
  reader = new Reader(folder, await freePort(), agro, testDatabase)
})
afterAll(async () => {
  await reader.leave()
  commands.close()
  await testDatabase.drop()
})

describe.sequential('the commands run as they are written, one after the other, in', () => {
  const pagesOfServer = [
    'docs/guide/integrators.md',
    'docs/guide/agents.md',
    'docs/guide/calls.md',
    'docs/guide/citations.md',
    'docs/guide/signatures.md',
    'docs/guide/quantities.md',
    'docs/guide/messages.md',
    'docs/guide/packs.md',
    'docs/api.md',
    'docs/countries.md',
    'docs/guide/operators.md',
    'docs/operations.md',
    'docs/guide/contributors.md',
    'docs/guide/subscriptions.md',
    'docs/guide/publish.md',
  ]
  const pages = isEmbedded ? ['README.md'] : pagesOfServer
  describe.each(pages)('%s', (page) => {
    test.each(blocksOf(page))('$commands', async (block) => {
      const { code, output } = await reader.follow(block)
      expect(code === 0, output).toBe(!block.refused)
    })
  })
})
