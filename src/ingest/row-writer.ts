import { once } from 'node:events'
import type { Writable } from 'node:stream'
import type { Kysely } from 'kysely'
import { from as copyFrom } from 'pg-copy-streams'
import type { Database } from '#src/database/client.ts'
import type { Tables } from '#src/database/tables.ts'

/** Takes one more row of a coverage. Rows are sent many at a time: it may be stored only later. */
export type Write<Row> = (row: Row) => Promise<void>

/** What makes rows and writes them; when it is done, they are all stored. */
export type Work<Row, Result> = (write: Write<Row>) => Promise<Result>

/** Where rows go, and how. */
export interface Destination<Row> {
  /** The table and its columns, for COPY. */
  table: string
  /** A row as a line of COPY. */
  line(row: Row): string
  /** The statement that inserts rows. */
  insert(db: Kysely<Tables>, rows: Row[]): Promise<unknown>
}

/**
 * Writes rows the fastest way into the database at hand: COPY on a server; the embedded one cannot read a
 * COPY.
 *
 * @returns what the work comes to
 * @throws the error of the work or of the database; what was written before may be there or not
 */
export function writing<Row, Result>(
  database: Database,
  destination: Destination<Row>,
  work: Work<Row, Result>,
): Promise<Result> {
  return database.kind === 'server'
    ? copying(database, destination, work)
    : inserting(database, destination, work)
}

/** COPY rows are gathered to about this size before they go to the socket. */
const COPY_CHUNK_BYTES = 256 * 1024

async function copying<Row, Result>(
  { pool }: Database,
  { table, line }: Destination<Row>,
  work: Work<Row, Result>,
): Promise<Result> {
  const client = await pool.connect()
  const stream = client.query(copyFrom(`copy ${table} from stdin`))
  let failure: Error | undefined
  stream.on('error', (error: Error) => {
    failure = error
  })
  let rows: string[] = []
  let size = 0

  async function write(row: Row): Promise<void> {
    const text = line(row)
    rows.push(text)
    size += text.length
    if (size >= COPY_CHUNK_BYTES) await flush()
  }

  async function flush(): Promise<void> {
    if (failure) throw failure
    const chunk = rows.join('')
    rows = []
    size = 0
    if (!stream.write(chunk, 'latin1')) await drained(stream)
  }

  try {
    const result = await work(write)
    await flush()
    // It may have come while the last rows were waited for.
    if (failure) throw failure
    stream.end()
    await once(stream, 'finish')
    client.release()
    return result
  } catch (error) {
    stream.destroy()
    client.release(true)
    // What the database has said tells more than what came of writing on.
    throw failure ?? error
  }
}

async function drained(stream: Writable): Promise<void> {
  const settled = new AbortController()
  const { signal } = settled
  // The event that does not come must not leave its listeners behind: there are thousands of chunks.
  await Promise.race([once(stream, 'drain', { signal }), once(stream, 'close', { signal })]).finally(() =>
    settled.abort(),
  )
}

/** Rows a statement: enough that the round trip does not count, few enough that memory does not grow. */
const ROWS_PER_STATEMENT = 100

async function inserting<Row, Result>(
  { writer }: Database,
  { insert }: Destination<Row>,
  work: Work<Row, Result>,
): Promise<Result> {
  let rows: Row[] = []

  async function flush(): Promise<void> {
    if (rows.length === 0) return
    await insert(writer, rows)
    rows = []
  }

  const result = await work(async (row) => {
    rows.push(row)
    if (rows.length >= ROWS_PER_STATEMENT) await flush()
  })
  await flush()
  return result
}
