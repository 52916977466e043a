// Runs on both databases: it reads roots by a statement of its own.
import { generateKeyPairSync } from 'node:crypto'
import { parquetMetadata } from 'hyparquet'
import initSqlJs from 'sql.js'
import { expect, test, vi } from 'vitest'
import type { Proof, SignedRoot } from '#src/extensions/signatures/schemas.ts'
import { call } from '#test/setup/calls.ts'
import { openService } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { askUntilMade } from './files.ts'
import { readHtml } from './made-packs.ts'

const SIGNING_KEY = String(generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }))

const service = openService({ settings: { SIGNING_KEY } })

const AREA = 'ETH-03-05'

const get = (format: string, method: 'GET' | 'HEAD' = 'GET') =>
  askUntilMade(service.app, { url: `/packs/eth/${AREA}.${format}`, method })

const byRelease = (a: SignedRoot, b: SignedRoot) => (a.release < b.release ? -1 : 1)

/** The roots that a proof of a place in the area has. */
async function findRoots(): Promise<SignedRoot[]> {
  const { body } = await call(service.app, 'GET /advisory/point?lat=11.3&lng=39.6&proof=true')
  return (body.proof as Proof[]).map(({ pixels: _, ...root }) => root).sort(byRelease)
}

async function readTiles(): Promise<Record<string, string>> {
  const { Database } = await initSqlJs()
  const database = new Database((await get('mbtiles')).rawPayload)
  const [{ values } = { values: [] }] = database.exec('select name, value from metadata')
  database.close()
  return Object.fromEntries(values)
}

test('a pack has the roots that proofs of its places have, with their signatures', async () => {
  const roots = await findRoots()
  expect(roots).toHaveLength(4)
  expect(roots.map(({ signature }) => signature)).not.toContain(null)

  const { releases } = readHtml((await get('html')).rawPayload)
  expect(releases.map(({ proof }) => proof as SignedRoot).sort(byRelease)).toEqual(roots)

  const { rawPayload: bytes } = await get('parquet')
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer
  const { key_value_metadata: pairs = [] } = parquetMetadata(file)
  expect(JSON.parse(pairs.find(({ key }) => key === 'merkle_roots')?.value ?? '')).toEqual(
    expect.arrayContaining(roots),
  )

  const { release, merkle_roots: text = '' } = await readTiles()
  expect(JSON.parse(text)).toEqual(roots.filter((root) => root.release === release))
})

test.each(['html', 'parquet', 'mbtiles'])('a root that comes later makes another %s', async (format) => {
  const before = await get(format, 'HEAD')
  const table = await get('csv', 'HEAD')
  const { app, database } = service
  await database.pool.query('delete from release_proof; delete from proof_node')
  const without = await get(format, 'HEAD')
  expect(without.headers.etag).not.toBe(before.headers.etag)
  expect((await get('csv', 'HEAD')).headers.etag).toBe(table.headers.etag)
  const { rawPayload } = await get(format)
  if (format === 'html') {
    expect(readHtml(rawPayload).releases.map(({ proof }) => proof)).toEqual([null, null, null, null])
  }
  app.jobs.wake('hash-releases')
  await vi.waitFor(
    async () => expect((await get(format, 'HEAD')).headers.etag).toBe(before.headers.etag),
    PATIENCE,
  )
})
