import { generateKeyPairSync } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { exportDatabase, importDatabase } from '#src/extensions/transfer/copy-queries.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { newFolder } from '#test/setup/folders.ts'
import { onePixelRelease } from '#test/setup/releases.ts'

const { privateKey } = generateKeyPairSync('ed25519')
const settings = { SIGNING_KEY: String(privateKey.export({ format: 'pem', type: 'pkcs8' })) }

let service: TestApp
let code: string
beforeAll(async () => {
  service = await createTestApp({
    template: 'empty',
    settings,
    async prepare(database) {
      code = (await loadRelease(database, onePixelRelease({ Urea: 100 }))).code
    },
  })
})
afterAll(() => service.close())

const ask = async (path: string) => (await service.get(path)).body

test('an imported release has the statement that it had, signed by the key of the service that has it', async () => {
  const [statement, release] = [await ask(`/releases/${code}/statement`), await ask(`/releases/${code}`)]
  expect(release).toMatchObject({ signature: expect.any(String) })
  const { keys } = await ask('/.well-known/jwks.json')
  const file = join(await newFolder(), 'export')
  await exportDatabase(service.database.writer, file)
  // The embedded database is one at a time.
  await service.close()
  service = await createTestApp({
    template: 'empty',
    prepare: ({ writer }) => importDatabase(writer, file),
  })
  expect(await ask(`/releases/${code}/statement`)).toEqual(statement)
  expect(await ask(`/releases/${code}`)).toEqual({ ...release, signature: null })
  expect(await ask('/.well-known/jwks.json')).toEqual({ keys })
})
