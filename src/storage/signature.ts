import { createHash, createHmac } from 'node:crypto'
import type { FileRequest } from './http.ts'

/** Who signs, and for which part of a provider. */
export interface Credentials {
  accessKeyId: string
  secretAccessKey: string
  region: string
}

const ALGORITHM = 'AWS4-HMAC-SHA256'

/** Signs a request to a bucket: Signature Version 4, as Amazon documents it for S3. */
export function signed(
  request: FileRequest,
  { accessKeyId, secretAccessKey, region }: Credentials,
  now = new Date(),
): FileRequest {
  const { method, url, body } = request
  const time = now.toISOString().replace(/[-:]|\.\d{3}/g, '')
  const day = time.slice(0, 8)
  const sum = sha256(body ?? '')
  const headers: Record<string, string> = {
    ...request.headers,
    'x-amz-content-sha256': sum,
    'x-amz-date': time,
  }
  const named = Object.entries({ ...headers, host: url.host }).sort(([a], [b]) => (a < b ? -1 : 1))
  const names = named.map(([name]) => name).join(';')
  const canonical = [
    method,
    url.pathname.split('/').map(escaped).join('/'),
    [...url.searchParams]
      .map(([name, value]) => `${escapedText(name)}=${escapedText(value)}`)
      .sort()
      .join('&'),
    ...named.map(([name, value]) => `${name}:${value.trim()}`),
    '',
    names,
    sum,
  ].join('\n')
  const scope = `${day}/${region}/s3/aws4_request`
  const key = [day, region, 's3', 'aws4_request'].reduce<string | Buffer>(
    (secret, part) => hmac(secret, part),
    `AWS4${secretAccessKey}`,
  )
  const signature = hmac(key, [ALGORITHM, time, scope, sha256(canonical)].join('\n')).toString('hex')
  const authorization = `${ALGORITHM} Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`
  return { ...request, headers: { ...headers, authorization } }
}

/** A segment of a path, escaped once, as S3 has it. */
function escaped(segment: string): string {
  return escapedText(decodeURIComponent(segment))
}

/** All but letters, digits and four others is escaped. */
function escapedText(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

function sha256(text: string | Buffer): string {
  return createHash('sha256').update(text).digest('hex')
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
