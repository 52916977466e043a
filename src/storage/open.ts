import { fileURLToPath } from 'node:url'
import type { Config } from '#src/config.ts'
import { OperatorError } from '#src/errors.ts'
import { openBucket } from './bucket.ts'
import { openFolder } from './folder.ts'
import { openWebServer } from './http.ts'
import type { FileStore } from './store.ts'

/** What opens the store of a kind of URL. */
const KINDS: Record<string, (url: URL, config: Config) => FileStore> = {
  'file:': (url) => openFolder(fileURLToPath(url)),
  'http:': (url, { STATEMENT_TIMEOUT_MS }) => openWebServer(url, STATEMENT_TIMEOUT_MS),
  'https:': (url, { STATEMENT_TIMEOUT_MS }) => openWebServer(url, STATEMENT_TIMEOUT_MS),
  's3:': openConfiguredBucket,
}

/**
 * Opens what TILE_STORE names; undefined where that is the database.
 *
 * @throws {OperatorError} where a setting is missing or wrong
 */
export function openFileStore(config: Config): FileStore | undefined {
  if (config.TILE_STORE === 'postgis') return undefined
  if (!URL.canParse(config.TILE_STORE)) throw new OperatorError('TILE_STORE is no URL.')
  const url = new URL(config.TILE_STORE)
  return KINDS[url.protocol]?.(url, config)
}

function openConfiguredBucket(url: URL, config: Config): FileStore {
  const { S3_ENDPOINT, S3_REGION: region, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY } = config
  if (!S3_ENDPOINT || !S3_ACCESS_KEY_ID || !S3_SECRET_ACCESS_KEY) {
    throw new OperatorError(`TILE_STORE=${url} needs S3_ENDPOINT, S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY.`)
  }
  return openBucket(
    {
      endpoint: S3_ENDPOINT,
      bucket: url.host,
      prefix: url.pathname.replace(/^\/|\/$/g, ''),
      credentials: { accessKeyId: S3_ACCESS_KEY_ID, secretAccessKey: S3_SECRET_ACCESS_KEY, region },
    },
    config.STATEMENT_TIMEOUT_MS,
  )
}
