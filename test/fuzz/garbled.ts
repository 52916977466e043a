import fc from 'fast-check'
import type { Twist } from './twists.ts'

const HOST = 'Host: 127.0.0.1\r\n'

/** Puts something in front of the host, where headers begin. */
const withLine = (line: string) => (text: string) => text.replace(HOST, () => `${line}\r\n${HOST}`)

/** Ways to write a request that no client library has: HTTP that is wrong, doubtful or absurd. */
const WAYS: Record<string, (text: string) => string> = {
  'two hosts': withLine('Host: example.org'),
  'no host': (text) => text.replace(HOST, ''),
  'no host in HTTP/1.0': (text) => text.replace(HOST, '').replace('HTTP/1.1', 'HTTP/1.0'),
  'an unknown version': (text) => text.replace('HTTP/1.1', 'HTTP/3.7'),
  'no version': (text) => text.replace(' HTTP/1.1', ''),
  'the preface of HTTP/2': () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  TLS: () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'two lengths': withLine('Content-Length: 5'),
  'a length below nothing': withLine('Content-Length: -1'),
  'a length that is no number': withLine('Content-Length: 0x10'),
  'a length and chunks': withLine('Transfer-Encoding: chunked\r\nContent-Length: 3'),
  'an unknown transfer coding': withLine('Transfer-Encoding: cow'),
  'chunks twice': withLine('Transfer-Encoding: chunked, chunked'),
  'a chunk without a size': (text) =>
    text.replace(HOST, `${HOST}Transfer-Encoding: chunked\r\n`).replace('\r\n\r\n', '\r\n\r\nzz\r\n'),
  'line feeds alone': (text) => text.replaceAll('\r\n', '\n'),
  'a header over two lines': withLine('X-Long: a\r\n b'),
  'a header without a name': withLine(': x'),
  'a space before the colon': withLine('X-Space : x'),
  'a NUL in a header': withLine('X-Nul: a\0b'),
  'bytes of no script in a header': withLine('X-Bytes: \xff\xfe'),
  'a header of 20 kB': withLine(`X-Large: ${'x'.repeat(20_000)}`),
  '200 headers': withLine(Array.from({ length: 200 }, (_, index) => `X-${index}: x`).join('\r\n')),
  'a URL of 20 kB': (text) => text.replace(' HTTP/1.1', `&${'x'.repeat(20_000)} HTTP/1.1`),
  'a whole URL': (text) => text.replace(' /', ' http://example.org/'),
  'a whole URL of another scheme': (text) => text.replace(' /', ' file:///'),
  'two slashes': (text) => text.replace(' /', ' //'),
  'steps up': (text) => text.replace(' /', ' /../../'),
  'escaped steps up': (text) => text.replace(' /', ' /%2e%2e/%2e%2e/'),
  'half an escape': (text) => text.replace(' HTTP/1.1', '%e0%a4%a HTTP/1.1'),
  'escaped bytes that are no text': (text) => text.replace(' HTTP/1.1', '?x=%ff%fe HTTP/1.1'),
  'bytes that are no text in the URL': (text) => text.replace(' HTTP/1.1', '?x=\xff\xc0 HTTP/1.1'),
  'a space in the URL': (text) => text.replace(' HTTP/1.1', ' x HTTP/1.1'),
  'no path': (text) => text.replace(/ \/[^ ]*/, ' ?'),
  'an asterisk': (text) => text.replace(/ \/[^ ]*/, ' *'),
  'a fragment': (text) => text.replace(' HTTP/1.1', '#x HTTP/1.1'),
  'an unknown method': (text) => text.replace(/^\w+/, 'COW'),
  'a method in small letters': (text) => text.replace(/^\w+/, (method) => method.toLowerCase()),
  'a tunnel': (text) => text.replace(/^\w+ [^ ]+/, 'CONNECT example.org:443'),
  'another protocol': withLine('Connection: Upgrade\r\nUpgrade: websocket'),
  'an unknown expectation': withLine('Expect: the-unexpected'),
  'half a head': (text) => text.slice(0, text.indexOf(HOST) + 8),
  'half a body': (text) => text.slice(0, -3),
  'two requests': (text) => text.replace('Connection: close\r\n', '') + text,
  'bytes after the request': (text) => `${text}GARBAGE\r\n\r\n`,
}

/** Those that a proxy before us may read in another way than we do. */
const REFUSED = new Set(['two hosts', 'no host'])

/** Requests that are not written as HTTP has them. */
export const GARBLED: fc.Arbitrary<Twist> = fc.constantFrom(...Object.entries(WAYS)).map(
  ([way, garble]): Twist =>
    (draft) => {
      draft.garble = (bytes) => Buffer.from(garble(bytes.toString('latin1')), 'latin1')
      draft.broken = REFUSED.has(way)
    },
)
