import { createReadStream, type ReadStream } from 'node:fs'
import { open, rm, stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { sql } from 'kysely'
import type { listAddedCrs } from '#src/data/crs.ts'
import { isOurs } from '#src/data/rights.ts'
import { type Digest, HEX_DIGITS } from '#src/data/row-digest.ts'
import type { Db } from '#src/data/tables.ts'
import { OperatorError } from '#src/errors.ts'
import { formatError, readErrorCode } from '#src/lib/promises.ts'
import type { Relation } from './relation-queries.ts'

const LINE_FEED = 0x0a

/**
 * Yields the lines of a stream. Other line separators of Unicode may stand inside.
 *
 * @param longest bytes of a line, by its number and its first character
 * @throws {RangeError} at a longer line
 */
async function* linesOf(
  stream: AsyncIterable<Buffer>,
  longest: (line: number, first: string) => number,
): AsyncGenerator<string> {
  let pieces: Buffer[] = []
  let length = 0
  let line = 1
  for await (const chunk of stream) {
    let begin = 0
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, begin)) {
      yield Buffer.concat([...pieces, chunk.subarray(begin, end)]).toString('utf8')
      pieces = []
      length = 0
      line++
      begin = end + 1
    }
    if (begin === chunk.length) continue
    pieces.push(chunk.subarray(begin))
    length += chunk.length - begin
    const most = longest(line, String.fromCharCode(pieces[0]?.[0] as number))
    if (length > most) throw new RangeError(`line ${line} has more than ${most} bytes`)
  }
  if (length > 0) yield Buffer.concat(pieces).toString('utf8')
}

/** As `RowDigest` of the rows of a table as text. */
export async function computeDigest(db: Db, table: string): Promise<Digest> {
  const { rows } = await sql<Digest>`
    select
      count(*) as rows,
      coalesce(
        sum(
          ('x' || left(encode(sha256(convert_to(entry::text, 'UTF8')), 'hex'), ${sql.lit(HEX_DIGITS)}))
            ::bit(${sql.lit(4 * HEX_DIGITS)})::bigint
        ),
        0
      )::text as sum
    from ${sql.table(table)} as entry`.execute(db)
  return rows[0] as Digest
}

interface SequenceState {
  name: string
  /** It may be too large for a number. */
  value: string
  called: boolean
}

/** Asks each sequence: `pg_sequences` hides where one stands that was set and not used yet. */
export async function readSequences(db: Db): Promise<SequenceState[]> {
  const { rows: names } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relkind = 'S' and relnamespace = current_schema()::regnamespace and ${isOurs('pg_class')}
    order by relname`.execute(db)
  const states: SequenceState[] = []
  for (const { name } of names) {
    const { rows } = await sql<SequenceState>`
      select ${name} as name, last_value::text as value, is_called as called
      from ${sql.table(name)}`.execute(db)
    states.push(...rows)
  }
  return states
}

export async function setSequence(db: Db, { name, value, called }: SequenceState): Promise<void> {
  await sql`select setval(quote_ident(${name})::regclass, ${value}::bigint, ${called})`.execute(db)
}

export interface ForeignKey {
  table: string
  name: string
  definition: string
}

/** Without the foreign keys that partitions inherit. */
export async function listForeignKeys(db: Db): Promise<ForeignKey[]> {
  const { rows } = await sql<ForeignKey>`
    select relname as "table", conname as name, pg_get_constraintdef(pg_constraint.oid) as definition
    from pg_constraint
    join pg_class on pg_class.oid = conrelid
    where contype = 'f' and conparentid = 0 and relnamespace = current_schema()::regnamespace
      and ${isOurs('pg_class')}
    order by relname, conname`.execute(db)
  return rows
}

export interface ArchiveHead {
  format: typeof ARCHIVE_FORMAT
  /** Version of the service. */
  service: string
  migrations: { name: string; checksum: string }[]
  /** Added to those of PostGIS. */
  crs?: Awaited<ReturnType<typeof listAddedCrs>>
}

/** After the head come the tables with their rows, then the sequences. */
export type ArchivePart =
  | { table: Omit<Relation, 'generated'> }
  | { row: string }
  | { tableEnd: Digest }
  | { end: SequenceState[] }

/** A later format gets another name. */
export const ARCHIVE_FORMAT = 'agro export 1'

const MEBIBYTE = 1024 * 1024

/** Bytes of a row: the largest area takes a quarter of them. */
const LONGEST_ROW = 64 * MEBIBYTE

/** Bytes of other lines, which are parsed before any check. */
const LONGEST_PART = MEBIBYTE

/** Writes a private file: lines of JSON, compressed by gzip. A failure leaves nothing. */
export async function writeArchive(path: string, lines: AsyncIterable<string>): Promise<void> {
  const file = await open(path, 'wx', 0o600).catch((error) => {
    if (readErrorCode(error) !== 'EEXIST')
      throw new OperatorError(`${path} cannot be written: ${formatError(error)}.`)
    throw new OperatorError(`${path} is there already: name another file, or remove it.`, {
      code: 'ALREADY_THERE',
    })
  })
  try {
    await pipeline(Readable.from(lines), createGzip(), file.createWriteStream({ flush: true }))
  } catch (error) {
    await rm(path, { force: true })
    if (readErrorCode(error) !== 'ENOSPC') throw error
    throw new OperatorError(`${path} cannot be written: ${formatError(error)}.`)
  } finally {
    await file.close()
  }
}

/** A row is a string, any other part an object. A row that no import would take is an error. */
export function formatLine(part: ArchiveHead | ArchivePart): string {
  const line = `${JSON.stringify('row' in part ? part.row : part)}\n`
  if (Buffer.byteLength(line) <= LONGEST_ROW) return line
  throw new OperatorError(`A row has more than ${LONGEST_ROW} bytes: move the database with pg_dump.`)
}

/** Reads an archive; `read` gives the share of the file so far. */
export async function openTransferArchive(
  path: string,
): Promise<{ head: ArchiveHead; parts: AsyncGenerator<ArchivePart>; read: () => number }> {
  const source = createReadStream(path)
  const lines = valuesOf(path, source)
  const first = await lines.next()
  const head = first.value as Partial<ArchiveHead> | undefined
  if (head?.format !== ARCHIVE_FORMAT) {
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
  source.on('error', (error) => unpacked.destroy(error))
  const longest = (line: number, first: string) => (line > 1 && first === '"' ? LONGEST_ROW : LONGEST_PART)
  try {
    for await (const line of linesOf(source.pipe(unpacked), longest)) yield JSON.parse(line)
  } catch (error) {
    if (error instanceof OperatorError) throw error
    throw new OperatorError(`${path} cannot be read: ${formatError(error)}.`, {
      code: readErrorCode(error) === 'Z_BUF_ERROR' ? 'CUT_OFF' : 'REFUSED',
    })
  } finally {
    source.destroy()
    unpacked.destroy()
  }
}
