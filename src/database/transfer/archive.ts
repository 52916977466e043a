import { createReadStream, type ReadStream } from 'node:fs'
import { open, rm, stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { OperatorError } from '#src/errors.ts'
import { codeOf, messageOf } from '#src/lib/caught.ts'
import { linesOf } from '#src/lib/lines.ts'
import type { listAddedCrs } from '../crs.ts'
import type { Digest } from './digest.ts'
import type { Relation, SequenceState } from './relations.ts'

/** What an archive begins with. */
export interface ArchiveHead {
  format: typeof FORMAT
  /** Of the service that wrote it. */
  service: string
  /** The migrations that its schema was made by, in order. */
  migrations: { name: string; checksum: string }[]
  /** What has been added to the CRSs of PostGIS; older versions added none. */
  crs?: Awaited<ReturnType<typeof listAddedCrs>>
}

/** What an archive consists of after that: each table with its rows, then where the sequences stand. */
export type ArchivePart =
  | { table: Omit<Relation, 'generated'> }
  | { row: string }
  | { tableEnd: Digest }
  | { end: SequenceState[] }

/** A later form gets another name, so that this version does not take it for its own. */
export const FORMAT = 'agro export 1'

const MEBIBYTE = 1024 * 1024

/** Bytes of a row: an area of as many positions as are loaded takes a quarter of them. */
const LONGEST_ROW = 64 * MEBIBYTE

/** Bytes of all else, which is parsed before its content is looked at. */
const LONGEST_PART = MEBIBYTE

/**
 * Writes a file that nobody else may read: lines of JSON, compressed by gzip. Nothing is left of it after a failure.
 *
 * @throws {OperatorError} where the file is there already, or cannot be written
 */
export async function writeArchive(path: string, lines: AsyncIterable<string>): Promise<void> {
  const file = await open(path, 'wx', 0o600).catch((error) => {
    if (codeOf(error) !== 'EEXIST') throw new OperatorError(`${path} cannot be written: ${messageOf(error)}.`)
    throw new OperatorError(`${path} is there already: name another file, or remove it.`, {
      code: 'ALREADY_THERE',
    })
  })
  try {
    await pipeline(Readable.from(lines), createGzip(), file.createWriteStream({ flush: true }))
  } catch (error) {
    await rm(path, { force: true })
    if (codeOf(error) !== 'ENOSPC') throw error
    throw new OperatorError(`${path} cannot be written: ${messageOf(error)}.`)
  } finally {
    await file.close()
  }
}

/**
 * A line for each thing; a row is a string, all else an object.
 *
 * @throws {OperatorError} where a row is so long that no import would take it
 */
export function lineOf(part: ArchiveHead | ArchivePart): string {
  const line = `${JSON.stringify('row' in part ? part.row : part)}\n`
  if (Buffer.byteLength(line) <= LONGEST_ROW) return line
  throw new OperatorError(`A row has more than ${LONGEST_ROW} bytes: move the database with pg_dump.`)
}

/**
 * Reads an archive part by part; `read` says which part of the file has been read, from 0 to 1.
 *
 * @throws {OperatorError} where the file cannot be read, is no archive, or is not whole
 */
export async function openArchive(
  path: string,
): Promise<{ head: ArchiveHead; parts: AsyncGenerator<ArchivePart>; read: () => number }> {
  const source = createReadStream(path)
  const lines = valuesOf(path, source)
  const first = await lines.next()
  const head = first.value as Partial<ArchiveHead> | undefined
  if (head?.format !== FORMAT) {
    await lines.return(undefined)
    throw new OperatorError(`${path} is not what \`agro export\` of this version writes.`)
  }
  const { size } = await stat(path)
  return { head: head as ArchiveHead, parts: partsOf(path, lines), read: () => source.bytesRead / size }
}

async function* partsOf(path: string, values: AsyncGenerator<unknown>): AsyncGenerator<ArchivePart> {
  for await (const value of values) {
    const part = typeof value === 'string' ? { row: value } : (value as ArchivePart)
    yield part
    if ('end' in part) return
  }
  throw new OperatorError(`${path} is not whole: its end is missing.`, { code: 'CUT_OFF' })
}

async function* valuesOf(path: string, source: ReadStream): AsyncGenerator<unknown> {
  const unpacked = createGunzip()
  // What fails there fails here, where it is read.
  source.on('error', (error) => unpacked.destroy(error))
  try {
    for await (const line of linesOf(source.pipe(unpacked), longestLine)) yield JSON.parse(line)
  } catch (error) {
    if (error instanceof OperatorError) throw error
    throw new OperatorError(`${path} cannot be read: ${messageOf(error)}.`, {
      code: codeOf(error) === 'Z_BUF_ERROR' ? 'CUT_OFF' : 'REFUSED',
    })
  } finally {
    source.destroy()
    unpacked.destroy()
  }
}

function longestLine(line: number, first: string): number {
  return line > 1 && first === '"' ? LONGEST_ROW : LONGEST_PART
}
