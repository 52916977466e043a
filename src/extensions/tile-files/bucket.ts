import { createHash } from 'node:crypto'
import { parseXml, type XmlElement } from '@rgrove/parse-xml'
import { AwsV4Signer } from 'aws4fetch'
import { StorageUnavailable } from '#src/data/failures.ts'
import { type Pauses, retry } from '#src/lib/promises.ts'
import {
  askServer,
  type Expected,
  type FileRequest,
  MOST_ERROR_BYTES,
  rangeHeader,
  readRange,
} from './http.ts'
import { type FileStore, fileAt, type ListedFile, pathOf } from './store.ts'

/** Providers ask for pauses now and then, and a load of hours is not to end for it. */
const PAUSES_MS: Pauses = [500, 2000, 8000]

interface ListPage {
  files: ListedFile[]
  /** Token of the next page. */
  next: string | undefined
}

/** Reads a page of ListObjectsV2. A page that may lack a file is an error: a sweep relies on it. */
function readPage(address: string, text: string, below: string): ListPage {
  const root = rootOf(text)
  if (root?.name !== 'ListBucketResult') throw notUnderstood(address)
  const files = childrenOf(root, 'Contents').flatMap((entry) => {
    const file = fileAt(textOf(entry, 'Key').slice(below.length))
    if (!file) return []
    const bytes = Number.parseInt(textOf(entry, 'Size'), 10)
    const writtenAt = new Date(textOf(entry, 'LastModified'))
    if (Number.isNaN(bytes) || Number.isNaN(writtenAt.getTime())) throw notUnderstood(address)
    return [{ ...file, bytes, writtenAt }]
  })
  const next = textOf(root, 'NextContinuationToken') || undefined
  if (textOf(root, 'IsTruncated') === 'true' && next === undefined) throw notUnderstood(address)
  return { files, next }
}

function rootOf(text: string): XmlElement | null {
  try {
    return parseXml(text).root
  } catch {
    return null
  }
}

function notUnderstood(address: string): StorageUnavailable {
  return new StorageUnavailable(`${address} answers with something else than a list of its files`, {
    hasAnswered: true,
  })
}

function childrenOf(element: XmlElement, name: string): XmlElement[] {
  return element.children.filter(
    (child): child is XmlElement => child.type === 'element' && (child as XmlElement).name === name,
  )
}

function textOf(element: XmlElement, name: string): string {
  return childrenOf(element, name)[0]?.text ?? ''
}

interface Credentials {
  accessKeyId: string
  secretAccessKey: string
  region: string
}

interface Bucket {
  /** The bucket is the first part of its paths. */
  endpoint: string
  bucket: string
  /** Without a slash at either end. */
  prefix: string
  credentials: Credentials
}

interface BucketLimits {
  /** Of an answer, but for that to a write. */
  timeoutMs: number
  /** Of requests that an operator waits for. */
  pausesMs?: Pauses
}

/** The store of a bucket that speaks S3. */
export function openBucket(
  { endpoint, bucket, prefix, credentials }: Bucket,
  { timeoutMs, pausesMs = PAUSES_MS }: BucketLimits,
): FileStore {
  const address = `s3://${[bucket, prefix].filter(Boolean).join('/')}`
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

  /** For an operator; it signs each attempt. */
  function ask(request: () => Promise<FileRequest>, expected: Omit<Expected, 'signal'>, waitMs = timeoutMs) {
    return retry(
      async () => askServer(address, await request(), { ...expected, signal: AbortSignal.timeout(waitMs) }),
      pausesMs,
      (error) => error instanceof StorageUnavailable && !error.hasAnswered,
    )
  }

  async function page(token: string | undefined): Promise<ListPage> {
    const url = new URL(root)
    url.searchParams.set('list-type', '2')
    if (below) url.searchParams.set('prefix', below)
    if (token) url.searchParams.set('continuation-token', token)
    const request = () => signed({ method: 'GET', url, headers: {} }, credentials)
    const { body } = await ask(request, { statuses: [200], mostBytes: MOST_LIST_BYTES })
    return readPage(address, body.toString(), below)
  }

  return {
    address,
    async read(name, offset, length, signal = AbortSignal.timeout(timeoutMs)) {
      const request = await requestFor('GET', name, { headers: rangeHeader(offset, length) })
      return readRange(address, request, length, signal)
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
        if (next && next === token) throw new StorageUnavailable(`${address} lists the same again and again`)
        token = next
      } while (token)
    },
    async remove(name) {
      await ask(() => requestFor('DELETE', name), { statuses: [200, 204, 404], mostBytes: MOST_ERROR_BYTES })
    },
  }
}

/** An operator alone waits for a write of some megabytes. */
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
