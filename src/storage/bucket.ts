import { createHash } from 'node:crypto'
import { AwsV4Signer } from 'aws4fetch'
import { inAttempts, PAUSES_MS } from './attempts.ts'
import {
  askServer,
  type Expected,
  type FileRequest,
  MOST_ERROR_BYTES,
  rangeHeader,
  readRange,
} from './http.ts'
import { type ListPage, pageOf } from './list-page.ts'
import { type FileStore, pathOf, StorageUnavailable } from './store.ts'

/** Who signs, and for which part of a provider. */
export interface Credentials {
  accessKeyId: string
  secretAccessKey: string
  region: string
}

export interface Bucket {
  /** Of the provider; the bucket is the first part of its paths. */
  endpoint: string
  bucket: string
  /** What names of objects begin with; nothing, or without a slash at either end. */
  prefix: string
  credentials: Credentials
}

export interface BucketLimits {
  /** How long is waited for an answer, but for that to a file that is stored. */
  timeoutMs: number
  /** Before something is tried once more that an operator waits for. */
  pausesMs?: readonly number[]
}

/** Makes the store of a bucket that speaks S3. */
export function openBucket(
  { endpoint, bucket, prefix, credentials }: Bucket,
  { timeoutMs, pausesMs = PAUSES_MS }: BucketLimits,
): FileStore {
  const place = `s3://${[bucket, prefix].filter(Boolean).join('/')}`
  const root = `${endpoint.replace(/\/$/, '')}/${bucket}`
  const below = prefix === '' ? '' : `${prefix}/`

  function requestFor(
    method: FileRequest['method'],
    name: string,
    more: Partial<FileRequest> = {},
  ): Promise<FileRequest> {
    const path = `${below}${pathOf(name)}`.split('/').map(encodeURIComponent).join('/')
    const request = { method, url: new URL(`${root}/${path}`), headers: {}, ...more }
    return signed(request, credentials)
  }

  /** Asks for what an operator waits for; it is signed anew each time. */
  function ask(request: () => Promise<FileRequest>, expected: Omit<Expected, 'signal'>, waitMs = timeoutMs) {
    return inAttempts(
      async () => askServer(place, await request(), { ...expected, signal: AbortSignal.timeout(waitMs) }),
      pausesMs,
    )
  }

  async function page(token: string | undefined): Promise<ListPage> {
    const url = new URL(root)
    url.searchParams.set('list-type', '2')
    if (below) url.searchParams.set('prefix', below)
    if (token) url.searchParams.set('continuation-token', token)
    const request = () => signed({ method: 'GET', url, headers: {} }, credentials)
    const { body } = await ask(request, { statuses: [200], mostBytes: MOST_LIST_BYTES })
    return pageOf(place, body.toString(), below)
  }

  return {
    place,
    async read(name, offset, length, signal = AbortSignal.timeout(timeoutMs)) {
      const request = await requestFor('GET', name, { headers: rangeHeader(offset, length) })
      return readRange(place, request, length, signal)
    },
    async write(name, bytes) {
      const expected = { statuses: [200, 201, 204], mostBytes: MOST_ERROR_BYTES }
      await ask(() => requestFor('PUT', name, { body: bytes }), expected, WRITE_TIMEOUT_MS)
    },
    async *list() {
      let token: string | undefined
      do {
        const { files, next } = await page(token)
        yield* files
        if (next && next === token) throw new StorageUnavailable(`${place} lists the same again and again`)
        token = next
      } while (token)
    },
    canWrite: async () => null,
    async remove(name) {
      await ask(() => requestFor('DELETE', name), { statuses: [200, 204, 404], mostBytes: MOST_ERROR_BYTES })
    },
  }
}

/** Nobody but an operator waits for what is written: some megabytes. */
const WRITE_TIMEOUT_MS = 120_000

/** A page has a thousand names at most, of a kilobyte at most. */
const MOST_LIST_BYTES = 8 * 2 ** 20

/** One a day. */
const signingKeys = new Map<string, ArrayBuffer>()

/** Signs a request to a bucket: Signature Version 4, with the sum of its body. */
export async function signed(
  request: FileRequest,
  credentials: Credentials,
  now = new Date(),
): Promise<FileRequest> {
  const { method, url, body } = request
  const sum = createHash('sha256')
    .update(body ?? '')
    .digest('hex')
  const signer = new AwsV4Signer({
    ...credentials,
    service: 's3',
    method,
    url: url.href,
    headers: { ...request.headers, 'x-amz-content-sha256': sum },
    datetime: now.toISOString().replace(/[-:]|\.\d{3}/g, ''),
    // Else a range is not signed.
    allHeaders: true,
    cache: signingKeys,
  })
  const { headers } = await signer.sign()
  return { ...request, headers: Object.fromEntries(headers) }
}
