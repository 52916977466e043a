import { lookup } from 'node:dns/promises'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { basename, extname, join } from 'node:path'
import { AwsV4Signer } from 'aws4fetch'
import { type Config, loadConfig } from '#src/config.ts'
import { OperatorError } from '#src/errors.ts'
import { shownAddress, stemOf } from '#src/ingest/other-formats.ts'
import { connectingTo, type OutwardRules, resolveTarget, whyNoTarget } from '#src/lib/outward.ts'
import { formatError, type Pauses, retry } from '#src/lib/promises.ts'
import { createDeadline } from '#src/lib/time-budget.ts'
import { listHosts } from './settings.ts'

const MOST_REDIRECTS = 5
/** A broken connection resumes at its position, so often. */
const PAUSES_MS: Pauses = [0, 0, 0]

export interface CopyLimits {
  maxBytes: number
  /** Between two chunks. */
  silenceMs: number
  /** In all. */
  wholeMs: number
}

const TIMES = { silenceMs: 30_000, wholeMs: 3_600_000 }

/** The bytes that lie beside a raster, by the ending that replaces its own, or follows it. */
const BESIDE: [ending: RegExp, instead: string[], behind: string[]][] = [
  [/\.tiff?$/i, ['.tfw', '.tifw', '.wld', '.prj', '.aux', '.tab'], ['.aux.xml', '.msk']],
  [/\.asc$/i, ['.prj'], ['.aux.xml']],
]

/** As {@link RasterReader.copy}, of hosts and buckets that INGEST_HOSTS names. */
export async function copyAddress(address: URL, folder: string, left: number) {
  const source = findSource(address, loadConfig())
  const name = basename(address.pathname).replaceAll(/[^\w.-]/g, '_') || 'raster.tif'
  const path = join(folder, name)
  let bytes = 0
  const copy = async (of: URL, target: string) => {
    const copied = await copyTo(source, of, target, { ...TIMES, maxBytes: left - bytes })
    bytes += copied ?? 0
    return copied !== undefined
  }
  if (!(await copy(address, path))) {
    throw new OperatorError(`${shownAddress(address.href)} is not there, or may not be read.`, {
      code: 'NOT_FOUND',
    })
  }
  for (const { pathname, file } of namesBeside(address.pathname, path)) {
    const beside = new URL(address)
    beside.pathname = pathname
    if (!(await copy(beside, file))) await rm(file)
  }
  return { path, bytes }
}

function namesBeside(pathname: string, target: string): { pathname: string; file: string }[] {
  const [, instead = [], behind = []] = BESIDE.find(([ending]) => ending.test(pathname)) ?? []
  const ending = extname(pathname)
  // Old Windows systems use capitals.
  const more = ending === ending.toUpperCase() ? instead.map((end) => end.toUpperCase()) : []
  return [
    ...behind.map((end) => ({ pathname: pathname + end, file: target + end })),
    ...[...instead, ...more].map((end) => ({ pathname: stemOf(pathname) + end, file: stemOf(target) + end })),
  ]
}

/** Where the bytes of an address are asked for, and by which rules. */
interface Source {
  urlOf(address: URL): URL
  /** @throws {OperatorError} for a host that INGEST_HOSTS does not name */
  rulesOf(url: URL): OutwardRules
  headersOf(url: URL, headers: Record<string, string>): Promise<Record<string, string>>
  /** Signatures are of one host. */
  followsRedirects: boolean
}

/** @throws {OperatorError} for an address that may not be read */
export function findSource(address: URL, config: Config): Source {
  const hosts = listHosts(config)
  const isBucket = address.protocol === 's3:'
  const shown = shownAddress(address.href)
  if (address.username || address.password) {
    throw new OperatorError(
      `${shown} is given with a name or a password, which manifests do not keep secret: download it first.`,
    )
  }
  const requireNamed = (name: string, leadsFrom = '') => {
    if (hosts.includes(name)) return
    throw new OperatorError(
      `${leadsFrom}${shown} is not read: INGEST_HOSTS does not name ${name}. Name it where its owner is trusted, or download the file.`,
    )
  }
  if (isBucket) {
    requireNamed(`s3://${address.host}`.toLowerCase())
    return bucketSource(config)
  }
  return {
    urlOf: (of) => of,
    rulesOf(url) {
      const allowPrivate = config.INGEST_ALLOW_PRIVATE
      if (url.protocol !== 'https:' && !allowPrivate) {
        throw new OperatorError(
          url.href === address.href
            ? `${shown} is not read: rasters are at https addresses.`
            : `${shown} leads to ${shownAddress(url.href)}, which is not https.`,
        )
      }
      const host = url.host.toLowerCase()
      if (host === address.host.toLowerCase()) requireNamed(host)
      else if (!hosts.includes(host)) {
        throw new OperatorError(
          `${shown} leads to ${shownAddress(url.href)}, and INGEST_HOSTS does not name ${host}.`,
        )
      }
      return { ports: [Number(url.port || 443)], allowPrivate }
    },
    headersOf: async (_url, headers) => headers,
    followsRedirects: true,
  }
}

/** The bucket is the first part of paths at the endpoint. Without a key requests are not signed, as public buckets take them. */
function bucketSource(config: Config): Source {
  const {
    INGEST_S3_REGION: region,
    INGEST_S3_ENDPOINT: endpoint = `https://s3.${region}.amazonaws.com`,
    INGEST_ALLOW_PRIVATE: allowPrivate,
  } = config
  const { INGEST_S3_ACCESS_KEY_ID: accessKeyId, INGEST_S3_SECRET_ACCESS_KEY: secretAccessKey } = config
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined)) {
    throw new OperatorError(
      'INGEST_S3_ACCESS_KEY_ID and INGEST_S3_SECRET_ACCESS_KEY are needed together, or neither.',
    )
  }
  return {
    urlOf: ({ host, pathname }) => new URL(`${endpoint.replace(/\/$/, '')}/${host}${pathname}`),
    rulesOf: (url) => ({ ports: [Number(url.port || 443)], allowPrivate }),
    async headersOf(url, headers) {
      if (accessKeyId === undefined || secretAccessKey === undefined) return headers
      const signer = new AwsV4Signer({
        ...{ accessKeyId, secretAccessKey, region, service: 's3', method: 'GET', url: url.href },
        headers: { ...headers, 'x-amz-content-sha256': EMPTY_SHA256 },
        // Else a range is not signed.
        allHeaders: true,
      })
      return Object.fromEntries((await signer.sign()).headers)
    },
    followsRedirects: false,
  }
}

/** Of a request without a body. */
const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

/** Retries cannot change these. */
const ABSENT = [401, 403, 404, 410]

/**
 * Resumes broken connections by ranges.
 *
 * @returns the bytes; undefined for a missing file
 */
export async function copyTo(
  source: Source,
  address: URL,
  target: string,
  limits: CopyLimits,
): Promise<number | undefined> {
  const { wholeMs } = limits
  const deadline = createDeadline()
  deadline.setDue(wholeMs, () => new Error(`it takes more than ${wholeMs / 1000} s`))
  const file = await open(target, 'w')
  try {
    const state: Progress = { at: 0, tag: undefined }
    const isThere = await retry(
      () => readRest(source, address, file, state, limits, deadline.signal),
      PAUSES_MS,
      (error) => !(error instanceof OperatorError || deadline.signal.aborted),
    )
    return isThere ? state.at : undefined
  } catch (error) {
    if (error instanceof OperatorError) throw error
    const { aborted, reason } = deadline.signal
    throw new OperatorError(
      `${shownAddress(address.href)} cannot be downloaded: ${formatError(aborted ? reason : error)}.`,
    )
  } finally {
    deadline.end()
    await file.close()
  }
}

interface Progress {
  at: number
  tag: string | undefined
}

async function readRest(
  source: Source,
  address: URL,
  file: FileHandle,
  state: Progress,
  { silenceMs, maxBytes }: CopyLimits,
  deadline: AbortSignal,
): Promise<boolean> {
  const silence = createDeadline(deadline)
  const wait = () => silence.setDue(silenceMs, () => new Error(`nothing came for ${silenceMs / 1000} s`))
  wait()
  let answer: IncomingMessage | undefined
  try {
    answer = await follow(source, address, state, silence.signal)
    const status = answer.statusCode as number
    if (ABSENT.includes(status)) return false
    if (status !== 200 && status !== 206) throw new Error(`it answers ${status}`)
    const start =
      status === 200 ? 0 : Number(/^bytes (\d+)-/.exec(answer.headers['content-range'] ?? '')?.[1])
    if (start !== state.at) {
      if (start !== 0) throw new Error('it answers with another part than was asked for')
      state.at = 0
      await file.truncate(0)
    }
    state.tag = answer.headers.etag
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      wait()
      if (state.at + chunk.length > maxBytes) {
        throw new OperatorError(
          `${shownAddress(address.href)} has more than the ${maxBytes} bytes that are downloaded.`,
        )
      }
      for (let written = 0; written < chunk.length; ) {
        const { bytesWritten } = await file.write(chunk, written, chunk.length - written, state.at)
        written += bytesWritten
        state.at += bytesWritten
      }
    }
    return true
  } catch (error) {
    throw silence.signal.aborted ? silence.signal.reason : error
  } finally {
    silence.end()
    answer?.destroy()
  }
}

/** A weak tag names no bytes: the file begins anew. */
async function follow(
  source: Source,
  address: URL,
  { at, tag }: Progress,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const resumes = at > 0 && tag !== undefined && !tag.startsWith('W/')
  const headers = {
    'accept-encoding': 'identity',
    ...(resumes && { range: `bytes=${at}-`, 'if-range': tag }),
  }
  let url = source.urlOf(address)
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
    const answer = await ask(url, await source.headersOf(url, headers), source.rulesOf(url), signal)
    const { location } = answer.headers
    const status = answer.statusCode as number
    if (status < 300 || status > 399 || location === undefined || !source.followsRedirects) return answer
    answer.destroy()
    url = new URL(location, url)
  }
  throw new OperatorError(`${shownAddress(address.href)} leads elsewhere more than ${MOST_REDIRECTS} times.`)
}

/** Connects to checked addresses alone, of the system's resolver: hosts of an own network may be in its file. */
async function ask(
  url: URL,
  headers: Record<string, string>,
  rules: OutwardRules,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const rule = whyNoTarget(url.href.replace(/#.*$/, ''), rules)
  if (rule !== undefined) throw new OperatorError(`${shownAddress(url.href)} is not read: it ${rule}.`)
  const resolve = async (name: string) =>
    (await lookup(name, { all: true }).catch(() => [])).map(({ address }) => address)
  const addresses = await resolveTarget(url.hostname, rules, resolve)
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest
  return new Promise((done, failed) => {
    request(url, { headers, signal, ...connectingTo(addresses) }, done)
      .on('error', failed)
      .end()
  })
}
