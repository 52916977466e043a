import { connect } from 'node:net'
import type { Answer } from '#test/setup/answers.ts'
import { PATIENCE } from '#test/setup/patience.ts'

/** A request as it is written out: no client library would send most of what is tried. */
export interface Wire {
  method: string
  target: string
  headers: [name: string, value: string][]
  body: Buffer | undefined
}

/** What came back on one connection, and after how many milliseconds it was all there. */
export interface Exchange {
  answers: Answer[]
  ms: number
}

/** Whoever says nothing for so long, after a request that may be half of one, waits for more of it. */
const SILENCE_MS = 300

export function bytesOf({ method, target, headers, body }: Wire): Buffer {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`)
  const head = Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`)
  return body ? Buffer.concat([head, body]) : head
}

/**
 * Sends bytes over a connection of their own, and reads until the service closes it.
 *
 * @param whole whether they are sure to be answered: of half a request, a service may wait for the rest
 */
export function exchange(port: number, bytes: Buffer, method: string, whole: boolean): Promise<Exchange> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const started = performance.now()
    const socket = connect({ host: '127.0.0.1', port, noDelay: true })
    socket.setTimeout(whole ? PATIENCE.timeout : SILENCE_MS)
    socket.once('connect', () => socket.write(bytes))
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.once('timeout', () => {
      if (whole) socket.destroy(new Error(`no answer within ${PATIENCE.timeout} ms`))
      else socket.destroy()
    })
    // Who has answered what is no HTTP hangs up before it has read it all.
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error)
    })
    socket.once('close', () => {
      const ms = performance.now() - started
      try {
        resolve({ answers: answersIn(Buffer.concat(chunks), method), ms })
      } catch (error) {
        reject(error)
      }
    })
  })
}

/** What is refused before its method is known: the answer has a body even to HEAD, and ends the connection. */
const OF_PARSER = new Set([400, 408, 431])

const HEAD_END = '\r\n\r\n'

/** Reads the answers that came, one after the other. */
function answersIn(bytes: Buffer, method: string): Answer[] {
  const answers: Answer[] = []
  for (let rest = bytes; rest.length > 0; ) {
    const end = rest.indexOf(HEAD_END)
    if (end < 0) throw new Error(`an answer that is no HTTP: ${rest.toString('latin1', 0, 200)}`)
    const [first = '', ...lines] = rest.toString('latin1', 0, end).split('\r\n')
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1])
    if (Number.isNaN(status)) throw new Error(`an answer that is no HTTP: ${first}`)
    const headers = Object.fromEntries(
      lines.map((line) => {
        const colon = line.indexOf(':')
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
      }),
    )
    rest = rest.subarray(end + HEAD_END.length)
    if (status < 200) continue
    const isBareHead = method === 'HEAD' && !(OF_PARSER.has(status) && rest.length > 0)
    const bare = isBareHead || status === 204 || status === 304
    const read = bare
      ? { body: Buffer.alloc(0), length: 0 }
      : headers['transfer-encoding'] === 'chunked'
        ? chunked(rest)
        : sized(rest, lengthOf(headers, rest))
    answers.push({ status, headers, body: read.body })
    rest = rest.subarray(read.length)
  }
  return answers
}

/** The bytes of a body. Without a length it ends with the connection, as answers to HTTP/1.0 may (RFC 9112, 6.3). */
function lengthOf(headers: Record<string, string>, rest: Buffer): number {
  const { 'content-length': length, connection } = headers
  if (length !== undefined) return Number(length)
  if (connection !== 'close') throw new Error(`an answer without a length: ${JSON.stringify(headers)}`)
  return rest.length
}

function sized(rest: Buffer, length: number) {
  if (!(length <= rest.length)) throw new Error(`an answer of ${rest.length} bytes, not of ${length}`)
  return { body: rest.subarray(0, length), length }
}

function chunked(rest: Buffer) {
  const parts: Buffer[] = []
  for (let at = 0; ; ) {
    const line = rest.indexOf('\r\n', at)
    const size = Number.parseInt(rest.toString('latin1', at, line), 16)
    if (line < 0 || Number.isNaN(size)) throw new Error('an answer that ends within a chunk')
    at = line + 2
    parts.push(rest.subarray(at, at + size))
    at += size + 2
    if (size === 0) return { body: Buffer.concat(parts), length: at }
  }
}

/** The request as a line of a shell, for whoever wants to see it again. */
export function curlOf(port: number, { method, target, headers, body }: Wire): string {
  const sent = headers.filter(([name]) => !/^(host|connection|content-length|transfer-encoding)$/i.test(name))
  const parts = [
    `curl -i --path-as-is -X ${quoted(method)} ${quoted(`http://127.0.0.1:${port}${target}`)}`,
    ...sent.map(([name, value]) => `-H ${quoted(value === '' ? `${name};` : `${name}: ${value}`)}`),
  ]
  if (!body) return parts.join(' ')
  return `${printed(body)} | ${parts.join(' ')} --data-binary @-`
}

/** Bytes that are none of a request, as a line of a shell. */
export function netcatOf(port: number, bytes: Buffer): string {
  return `${printed(bytes)} | nc -w 2 127.0.0.1 ${port}`
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

function printed(bytes: Buffer): string {
  const text = bytes.toString('latin1').replace(/[^ -~]|[\\%']/g, (character) => {
    if (character === '%') return '%%'
    return `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`
  })
  return `printf '${text}'`
}
