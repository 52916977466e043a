import { parseXml, type XmlElement } from '@rgrove/parse-xml'
import { askServer, type FileRequest, rangeHeader, readRange } from './http.ts'
import { type Credentials, signed } from './signature.ts'
import { type FileStore, type ListedFile, nameAt, pathOf } from './store.ts'

export interface Bucket {
  /** Of the provider; the bucket is the first part of its paths. */
  endpoint: string
  bucket: string
  /** What names of objects begin with; nothing, or without a slash at either end. */
  prefix: string
  credentials: Credentials
}

/** Makes the store of a bucket that speaks S3. */
export function openBucket({ endpoint, bucket, prefix, credentials }: Bucket, timeoutMs: number): FileStore {
  const place = `s3://${[bucket, prefix].filter(Boolean).join('/')}`
  const root = `${endpoint.replace(/\/$/, '')}/${bucket}`
  const below = prefix === '' ? '' : `${prefix}/`

  function requestFor(
    method: FileRequest['method'],
    name: string,
    more: Partial<FileRequest> = {},
  ): FileRequest {
    const url = new URL(`${root}/${below}${pathOf(name)}`)
    return signed({ method, url, headers: {}, ...more }, credentials)
  }

  async function page(token: string | undefined): Promise<{ files: ListedFile[]; next: string | undefined }> {
    const url = new URL(root)
    url.searchParams.set('list-type', '2')
    if (below) url.searchParams.set('prefix', below)
    if (token) url.searchParams.set('continuation-token', token)
    const request = signed({ method: 'GET', url, headers: {} }, credentials)
    const { body } = await askServer(place, request, timeoutMs, [200])
    return pageOf(body.toString(), below)
  }

  return {
    place,
    read: (name, offset, length) =>
      readRange(place, requestFor('GET', name, { headers: rangeHeader(offset, length) }), timeoutMs, length),
    async write(name, bytes) {
      await askServer(place, requestFor('PUT', name, { body: bytes }), WRITE_TIMEOUT_MS, [200, 201, 204])
    },
    async *list() {
      let token: string | undefined
      do {
        const { files, next } = await page(token)
        yield* files
        token = next
      } while (token)
    },
    async remove(name) {
      await askServer(place, requestFor('DELETE', name), timeoutMs, [200, 204, 404])
    },
  }
}

/** Nobody but an operator waits for what is written: some megabytes. */
const WRITE_TIMEOUT_MS = 120_000

/** A page of ListObjectsV2. */
function pageOf(text: string, below: string): { files: ListedFile[]; next: string | undefined } {
  const root = parseXml(text).root as XmlElement
  const files = childrenOf(root, 'Contents').flatMap((entry) => {
    const name = nameAt(textOf(entry, 'Key').slice(below.length))
    const writtenAt = new Date(textOf(entry, 'LastModified'))
    return name === undefined ? [] : [{ name, bytes: Number(textOf(entry, 'Size')), writtenAt }]
  })
  return { files, next: textOf(root, 'NextContinuationToken') || undefined }
}

function childrenOf(element: XmlElement, name: string): XmlElement[] {
  return element.children.filter(
    (child): child is XmlElement => child.type === 'element' && (child as XmlElement).name === name,
  )
}

function textOf(element: XmlElement, name: string): string {
  return childrenOf(element, name)[0]?.text ?? ''
}
