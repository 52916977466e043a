import { expect, test } from 'vitest'
import { loadConfig } from '#src/config.ts'
import { OperatorError } from '#src/errors.ts'
import { openFileStore } from '#src/extensions/tile-files/open.ts'

test.each([
  [{ TILE_STORE: 'postgis' }, undefined],
  [{ TILE_STORE: 'file:///srv/my%20tiles' }, '/srv/my tiles'],
  [{ TILE_STORE: 'https://tiles.example.org/agro' }, 'https://tiles.example.org/agro'],
  [{ TILE_STORE: 's3://bucket/a/b%20c/' }, 's3://bucket/a/b c'],
  [{ TILE_STORE: 's3://bucket' }, 's3://bucket'],
])('%o leads to where tiles are', async (settings, address) => {
  expect((await openFileStore(read(settings)))?.address).toBe(address)
})

test.each([
  [{ TILE_STORE: 'https://user:hidden@tiles.example.org/' }, 'TILE_STORE has a user or a password in it'],
  [{ TILE_STORE: 's3://key:hidden@bucket/tiles' }, 'TILE_STORE has a user or a password in it'],
  [{ TILE_STORE: 's3://bucket', S3_ENDPOINT: 'https://key:hidden@s3.example.org' }, 'S3_ENDPOINT has a user'],
  [{ TILE_STORE: 'https://tiles.example.org/?signature=hidden' }, 'TILE_STORE has a ? or a # in it'],
  [{ TILE_STORE: 'file:///srv/tiles#hidden' }, 'TILE_STORE has a ? or a # in it'],
  [{ TILE_STORE: 'file:///srv/a%2Fb' }, 'TILE_STORE=file:///srv/a%2Fb names no folder'],
  [{ TILE_STORE: 's3://bucket/100%' }, 'names no prefix'],
  [{ TILE_STORE: 's3://bucket:9000/tiles' }, 'has a port'],
  [{ TILE_STORE: 's3://bucket', S3_ENDPOINT: '' }, 'needs S3_ENDPOINT'],
])('%o is refused, and what may be a password is not repeated', (settings, sentence) => {
  const opening = () => read(settings)
  expect(opening).toThrow(sentence)
  expect(opening).not.toThrow('hidden')
})

test('a key that cannot be sent is refused before it is shown in an error', () => {
  expect(() => read({ TILE_STORE: 's3://bucket', S3_ACCESS_KEY_ID: 'two\nlines' })).toThrow(
    'S3_ACCESS_KEY_ID',
  )
})

test.each([
  ['/srv/tiles', false],
  ['/srv/tiles/', false],
  ['/srv/tiles/cache', false],
  ['/srv', false],
  ['/srv/tiles-cache', true],
  ['/var/cache/tiles', true],
])('a cache in %s beside the files of /srv/tiles: %s', (TILE_DISK_CACHE_DIR, isWell) => {
  const opening = () => read({ TILE_STORE: 'file:///srv/tiles', TILE_DISK_CACHE_DIR })
  if (isWell) expect(opening).not.toThrow()
  else expect(opening).toThrow(OperatorError)
})

const S3 = {
  S3_ENDPOINT: 'https://s3.example.org',
  S3_ACCESS_KEY_ID: 'key',
  S3_SECRET_ACCESS_KEY: 'a secret',
}

const read = (settings: Record<string, string>) => loadConfig({ ...S3, ...settings })
