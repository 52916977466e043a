import { relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Config } from '#src/config.ts'
import { OperatorError } from '#src/errors.ts'
import type { FileStore } from './store.ts'

type Open = () => Promise<FileStore>

const KINDS: Record<string, (url: URL, config: Config) => Open> = {
  'file:': chooseFolder,
  'http:': chooseWebServer,
  'https:': chooseWebServer,
  's3:': chooseBucket,
}

/** Undefined where TILE_STORE is the database. @throws {Error} with a sentence without its full stop */
export function chooseFileStore(config: Config): Open | undefined {
  if (config.TILE_STORE === 'postgis') return undefined
  const url = plainUrl('TILE_STORE', config.TILE_STORE)
  return KINDS[url.protocol]?.(url, config)
}

/** Undefined where TILE_STORE is the database. */
export async function openFileStore(config: Config): Promise<FileStore | undefined> {
  return chooseFileStore(config)?.()
}

/** @throws {OperatorError} where TILE_STORE is the database */
export async function requireFileStore(config: Config): Promise<FileStore> {
  const files = await openFileStore(config)
  if (files) return files
  throw new OperatorError('TILE_STORE names no files: set it to where they are.')
}

function chooseWebServer(url: URL, { STATEMENT_TIMEOUT_MS }: Config): Open {
  return async () => (await import('./http.ts')).openWebServer(url, STATEMENT_TIMEOUT_MS)
}

/** A URL without credentials and parameters. The error does not repeat it: it may have a password. */
function plainUrl(setting: string, text: string): URL {
  if (!URL.canParse(text)) throw new Error(`${setting} is no URL`)
  const url = new URL(text)
  if (url.username || url.password) {
    throw new Error(`${setting} has a user or a password in it, which are not used: leave them out`)
  }
  if (url.search || url.hash) {
    throw new Error(`${setting} has a ? or a # in it: write %3F or %23 where a name has one`)
  }
  return url
}

function pathOfFile(url: URL): string {
  try {
    return fileURLToPath(url)
  } catch {
    throw new Error(`TILE_STORE=${url} names no folder`)
  }
}

function chooseFolder(url: URL, { TILE_DISK_CACHE_DIR: cache }: Config): Open {
  const folder = pathOfFile(url)
  if (cache && (isWithin(folder, cache) || isWithin(cache, folder))) {
    throw new Error(
      `TILE_DISK_CACHE_DIR=${cache} and TILE_STORE=${url} are the same folder, or one is in the other: what is kept for a while has to lie elsewhere`,
    )
  }
  return async () => (await import('./store.ts')).openFolder(folder)
}

/** Whether a path is another one or below it. */
function isWithin(path: string, other: string): boolean {
  return !/^\.\.(\/|$)/.test(relative(resolve(other), resolve(path)))
}

function prefixOf(url: URL): string {
  try {
    return decodeURIComponent(url.pathname.replace(/^\/|\/$/g, ''))
  } catch {
    throw new Error(`TILE_STORE=${url} names no prefix: a % is written %25`)
  }
}

function chooseBucket(url: URL, config: Config): Open {
  const { S3_ENDPOINT, S3_REGION: region, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY } = config
  if (!S3_ENDPOINT || !S3_ACCESS_KEY_ID || !S3_SECRET_ACCESS_KEY) {
    throw new Error(`TILE_STORE=${url} needs S3_ENDPOINT, S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY`)
  }
  if (url.port) throw new Error(`TILE_STORE=${url} has a port: it belongs into S3_ENDPOINT`)
  const bucket = {
    endpoint: plainUrl('S3_ENDPOINT', S3_ENDPOINT).href,
    bucket: url.hostname,
    prefix: prefixOf(url),
    credentials: { accessKeyId: S3_ACCESS_KEY_ID, secretAccessKey: S3_SECRET_ACCESS_KEY, region },
  }
  return async () =>
    (await import('./bucket.ts')).openBucket(bucket, { timeoutMs: config.STATEMENT_TIMEOUT_MS })
}
