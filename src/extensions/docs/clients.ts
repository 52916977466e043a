import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { zipSync } from 'fflate'
import { entityTag } from '#src/http/entity-tags.ts'
import { Cache } from '#src/lib/cache.ts'
import { VERSION } from '#src/lib/version.ts'

const BLOCK = 512

/** Makes an archive of files (POSIX ustar) with no times and owners in it: the same files are the same bytes. */
function packTar(files: ReadonlyMap<string, Buffer>): Buffer {
  const pieces = [...files].flatMap(([name, bytes]) => [createTarHeader(name, bytes.length), padded(bytes)])
  return Buffer.concat([...pieces, Buffer.alloc(2 * BLOCK)])
}

function createTarHeader(name: string, length: number): Buffer {
  if (Buffer.byteLength(name) > 99) throw new RangeError(`${name} is too long for a name in an archive`)
  const header = Buffer.alloc(BLOCK)
  header.write(name, 0)
  const size = length.toString(8).padStart(11, '0')
  // Mode, owner, group, size and time; the sum is taken with blanks for itself.
  header.write(`0000644\0${'0000000\0'.repeat(2)}${size}\0${'0'.repeat(11)}\0${' '.repeat(8)}0`, 100)
  header.write('ustar\x0000', 257)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return header
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK)])
}

const CLIENTS = join(import.meta.dirname, '../../../clients')
const LICENSE = join(CLIENTS, '../LICENSE')

const NAME = 'agro_advisory_client'

interface ClientFile {
  mediaType: string
  bytes: Buffer
  tag: string
}

/** Files of clients by name. pip requires the version in the name of a wheel. */
const MADE: Readonly<Record<string, { mediaType: string; make: () => Promise<Buffer> }>> = {
  'agro-advisory.tgz': { mediaType: 'application/gzip', make: npmPackage },
  [`${NAME}-${VERSION}-py3-none-any.whl`]: { mediaType: 'application/zip', make: wheel },
  'agro_advisory.R': {
    mediaType: 'text/plain; charset=utf-8',
    make: () => readFile(join(CLIENTS, 'r/agro_advisory.R')),
  },
}

/** Creates each file at its first request; undefined for an unknown one. */
export function createClientFiles(): (name: string) => Promise<ClientFile> | undefined {
  const files = new Cache<string, ClientFile>('client files', { max: Object.keys(MADE).length })

  async function made(name: string): Promise<ClientFile> {
    const { mediaType, make } = MADE[name] as (typeof MADE)[string]
    const bytes = await make()
    return { mediaType, bytes, tag: entityTag(sha256(bytes)) }
  }

  return (name) => {
    if (!Object.hasOwn(MADE, name)) return undefined
    return files.load(name, () => made(name))
  }
}

/** The package of `npm pack`, each module compiled alone: the service has no checker of types. */
async function npmPackage(): Promise<Buffer> {
  const folder = join(CLIENTS, 'typescript')
  const files = new Map<string, Buffer>()
  for (const path of [join(folder, 'package.json'), join(folder, 'README.md'), LICENSE])
    files.set(`package/${basename(path)}`, await readFile(path))
  // Most processes never need it.
  const { transform } = await import('oxc-transform')
  for (const name of (await readdir(join(folder, 'src'))).sort()) {
    const { code, declaration = '' } = await transform(name, await text(join(folder, 'src', name)), {
      target: 'es2022',
      typescript: { declaration: {}, rewriteImportExtensions: 'rewrite' },
    })
    const module = `package/dist/${name.replace(/\.ts$/, '')}`
    files.set(`${module}.js`, Buffer.from(code)).set(`${module}.d.ts`, Buffer.from(declaration))
  }
  return promisify(gzip)(packTar(files))
}

/** A wheel of a module (PEP 427), which needs no build. */
async function wheel(): Promise<Buffer> {
  const folder = join(CLIENTS, 'python')
  const info = `${NAME}-${VERSION}.dist-info`
  const metadata = [
    'Metadata-Version: 2.1',
    `Name: ${NAME.replaceAll('_', '-')}`,
    `Version: ${VERSION}`,
    'Summary: Client of the agricultural advisory service.',
    'License: Apache-2.0',
    'Requires-Python: >=3.9',
    'Description-Content-Type: text/markdown',
    '',
    await text(join(folder, 'README.md')),
  ]
  const wheelFile = [
    'Wheel-Version: 1.0',
    'Generator: agro-advisory',
    'Root-Is-Purelib: true',
    'Tag: py3-none-any',
    '',
  ]
  const files: Record<string, Buffer> = {
    'agro_advisory.py': await readFile(join(folder, 'agro_advisory.py')),
    [`${info}/LICENSE`]: await readFile(LICENSE),
    [`${info}/METADATA`]: Buffer.from(metadata.join('\n')),
    [`${info}/WHEEL`]: Buffer.from(wheelFile.join('\n')),
  }
  const record = Object.entries(files).map(
    ([name, bytes]) => `${name},sha256=${sha256(bytes)},${bytes.length}`,
  )
  files[`${info}/RECORD`] = Buffer.from([...record, `${info}/RECORD,,`, ''].join('\n'))
  // The earliest time of a zip archive.
  return Buffer.from(zipSync(files, { mtime: new Date(1980, 0, 1) }))
}

const text = (path: string) => readFile(path, 'utf8')

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('base64url')
}
