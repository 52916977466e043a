import { relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Config } from '#src/config.ts'
import { OperatorError } from '#src/errors.ts'
import { openBucket } from './bucket.ts'
import { openWebServer } from './http.ts'
import { type FileStore, openFolder } from './store.ts'

const KINDS: Record<string, (url: URL, config: Config) => FileStore> = {
  'file:': openConfiguredFolder,
  'http:': (url, { STATEMENT_TIMEOUT_MS }) => openWebServer(url, STATEMENT_TIMEOUT_MS),
  'https:': (url, { STATEMENT_TIMEOUT_MS }) => openWebServer(url, STATEMENT_TIMEOUT_MS),
  's3:': openConfiguredBucket,
}

/** Undefined where TILE_STORE is the database. */
export function openFileStore(config: Config): FileStore | undefined {
  if (config.TILE_STORE === 'postgis') return undefined
  const url = plainUrl('TILE_STORE', config.TILE_STORE)
  return KINDS[url.protocol]?.(url, config)
}

/** A URL without credentials and parameters. The error does not repeat it: it may have a password. */
function plainUrl(setting: string, text: string): URL {
  if (!URL.canParse(text)) throw new OperatorError(`${setting} is no URL.`)
  const url = new URL(text)
  if (url.username || url.password) {
    throw new OperatorError(`${setting} has a user or a password in it, which are not used: leave them out.`)
  }
  if (url.search || url.hash) {
    throw new OperatorError(`${setting} has a ? or a # in it: write %3F or %23 where a name has one.`)
  }
  return url
}

function pathOfFile(url: URL): string {
  try {
    return fileURLToPath(url)
  } catch {
    throw new OperatorError(`TILE_STORE=${url} names no folder.`)
  }
}

function openConfiguredFolder(url: URL, { TILE_DISK_CACHE_DIR: cache }: Config): FileStore {
  const folder = pathOfFile(url)
  if (cache && (isWithin(folder, cache) || isWithin(cache, folder))) {
    throw new OperatorError(
      `TILE_DISK_CACHE_DIR=${cache} and TILE_STORE=${url} are the same folder, or one is in the other: what is kept for a while has to lie elsewhere.`,
    )
  }
  return openFolder(folder)
}

/** Whether a path is another one or below it. */
function isWithin(path: string, other: string): boolean {
  return !/^\.\.(\/|$)/.test(relative(resolve(other), resolve(path)))
}

function prefixOf(url: URL): string {
  try {
    return decodeURIComponent(url.pathname.replace(/^\/|\/$/g, ''))
  } catch {
    throw new OperatorError(`TILE_STORE=${url} names no prefix: a % is written %25.`)
  }
}

function openConfiguredBucket(url: URL, config: Config): FileStore {
  const { S3_ENDPOINT, S3_REGION: region, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY } = config
  if (!S3_ENDPOINT || !S3_ACCESS_KEY_ID || !S3_SECRET_ACCESS_KEY) {
    throw new OperatorError(`TILE_STORE=${url} needs S3_ENDPOINT, S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY.`)
  }
  if (url.port) throw new OperatorError(`TILE_STORE=${url} has a port: it belongs into S3_ENDPOINT.`)
  return openBucket(
    {
      endpoint: plainUrl('S3_ENDPOINT', S3_ENDPOINT).href,
      bucket: url.hostname,
      prefix: prefixOf(url),
      credentials: { accessKeyId: S3_ACCESS_KEY_ID, secretAccessKey: S3_SECRET_ACCESS_KEY, region },
    },
    { timeoutMs: config.STATEMENT_TIMEOUT_MS },
  )
}
