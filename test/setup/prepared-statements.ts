import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { loadConfig } from '#src/config.ts'
import { openEmbedded } from '#src/data/embedded/cluster.ts'
import { createPool } from '#src/data/pool.ts'
import { formatError } from '#src/lib/promises.ts'
import type { Query } from './pristine.ts'
import type { SentStatement } from './sent-statements.ts'
import { prepareTemplate } from './templates.ts'

/** What has a statement in it that can be prepared; parameters of a cursor would be unknown otherwise. */
const AROUND = /^\s*(?:declare [\w\s]+\sfor\s(.*)|copy \((.*)\) to stdout.*)$/is
/** Characters of a statement in a sentence. */
const SHOWN = 300
/** What later statements need. */
const LASTING = /^\s*create temporary table\b/i

/**
 * What is there and fails when it runs: functions of GDAL, and of libraries that are not compiled in. No statement and no
 * function of the schema may use them.
 */
const UNABLE = `
  proname ~ '^_?st_(clip|asraster|resample|rescale|reskew|resize|contour|interpolateraster|dumpaspolygons)$'
  or proname ~ '^st_(as(tiff|png|jpeg|gdalraster|mvt|mvtgeom|geobuf|flatgeobuf)|fromgdalraster|gdaldrivers)$'
  or proname in ('st_transform', 'st_snaptogrid') and 'raster'::regtype = any (proargtypes)`

/** How a database takes a statement: the types that it gives the parameters, or why it fails. */
export type Taken = { types: string } | { error: string }

/**
 * Has a database prepare each statement once, in a transaction that leaves nothing behind. What others make for themselves comes
 * first.
 *
 * @param begin called in the transaction
 */
export async function tryStatements(
  pool: pg.Pool,
  statements: string[],
  begin: (query: Query) => Promise<void> = async () => {},
): Promise<Map<string, Taken>> {
  const order = [...statements.filter((text) => LASTING.test(text)), ...statements]
  const taken = new Map<string, Taken>()
  // The pool itself would close a connection after an error.
  const client = await pool.connect()
  const query: Query = async (text) => (await client.query(text)).rows
  try {
    await query('begin')
    await begin(query)
    for (const text of new Set(order)) {
      await query('savepoint tried')
      const one = await tryStatement(query, text).catch((error): Taken => ({ error: formatError(error) }))
      taken.set(text, one)
      await query(`${LASTING.test(text) && 'types' in one ? 'release' : 'rollback to'} savepoint tried`)
    }
    await query('rollback')
    return taken
  } finally {
    client.release()
  }
}

async function tryStatement(query: Query, text: string): Promise<Taken> {
  if (LASTING.test(text)) {
    await query(text)
    return { types: '{}' }
  }
  const [, ofCursor, copied] = AROUND.exec(text) ?? []
  await query(`prepare tried as ${ofCursor ?? copied ?? text}`)
  const [row] = await query(
    `select parameter_types::text as types from pg_prepared_statements where name = 'tried'`,
  )
  await query('deallocate tried')
  return { types: row?.types as string }
}

/** Where the databases are that have the schema. */
interface Templates {
  /** URL of a database of the server. */
  server: string
  /** A folder; undefined to make one. */
  embedded: string | undefined
}

/** Has the embedded database prepare what was sent to the server, and the server once more. */
export async function mistakesOfSent(sent: SentStatement[], templates: Templates): Promise<string[]> {
  const texts = sent.map(({ text }) => text)
  const [onServer, embedded] = await Promise.all([
    tryOnServer(texts, templates.server),
    tryEmbedded(texts, templates.embedded),
  ])
  return mistakesOfTaken(sent, onServer, embedded)
}

/** @returns a sentence for each statement that the embedded database takes otherwise than the server does */
export function mistakesOfTaken(
  sent: SentStatement[],
  onServer: Map<string, Taken>,
  embedded: Map<string, Taken>,
): string[] {
  return sent.flatMap(({ text, from }) => {
    const [one, other] = [onServer.get(text), embedded.get(text)]
    const shown = `${from}: ${text.replaceAll(/\s+/g, ' ').trim().slice(0, SHOWN)}`
    if (!one || !other) return []
    // What a test has made for itself.
    if ('error' in one && /^(relation|tablespace) .* does not exist$/.test(one.error)) return []
    if ('error' in one) return [`The server does not prepare a statement (${one.error}) of ${shown}`]
    if ('error' in other)
      return [`The embedded database does not prepare a statement (${other.error}) of ${shown}`]
    if (one.types === other.types) return []
    return [`Parameters are ${one.types} on a server, ${other.types} on the embedded database, in ${shown}`]
  })
}

async function tryOnServer(texts: string[], url: string): Promise<Map<string, Taken>> {
  const pool = createPool({ target: url, size: 1, statementTimeout: 0 })
  return tryStatements(pool, texts).finally(() => pool.end())
}

async function tryEmbedded(texts: string[], template: string | undefined): Promise<Map<string, Taken>> {
  const folder = await mkdtemp(join(tmpdir(), 'agro-statements-'))
  if (template) await cp(template, folder, { recursive: true })
  else await prepareTemplate(loadConfig({ DATA_DIR: folder }), 'empty')
  const cluster = await openEmbedded(folder, () => {})
  const pool = createPool({ target: cluster.connect, size: 1, statementTimeout: 0 })
  try {
    return await tryStatements(pool, texts, removeUnable)
  } finally {
    await pool.end()
    await cluster.close()
    await rm(folder, { recursive: true })
  }
}

/** Renames the functions that fail when they run. */
export async function removeUnable(query: Query): Promise<void> {
  const found = await query(`select oid::regprocedure::text as name, proname from pg_proc where ${UNABLE}`)
  for (const { name, proname } of found) await query(`alter function ${name} rename to unable_${proname}`)
}
