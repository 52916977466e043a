import { generateKeyPairSync } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { exportDatabase, importDatabase } from '#src/extensions/transfer/copy-queries.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { call } from '#test/setup/calls.ts'
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

const askProof = async () =>
  (await call(service.app, 'GET /advisory/fertilizer/point?lat=9.5&lng=38.5&crop=wheat&proof=true')).body
    .proof
const askRelease = async () => (await call(service.app, `GET /releases/${code}`)).body

test('proofs are the same where a release is imported, but signed by the key of that service', async () => {
  const [[proof], release] = [await askProof(), await askRelease()]
  expect(proof).toMatchObject({ signature: expect.any(String) })
  const file = join(await newFolder(), 'export')
  await exportDatabase(service.database.writer, file)
  // The embedded database is one at a time.
  await service.close()
  service = await createTestApp({
    template: 'empty',
    prepare: ({ writer }) => importDatabase(writer, file),
  })
  expect(await askProof()).toEqual([{ ...proof, kid: null, signature: null }])
  expect(await askRelease()).toEqual(release)
  const keys = await call(service.app, 'GET /.well-known/jwks.json')
  expect(keys.body.keys).toMatchObject([{ kid: proof.kid }])
})
