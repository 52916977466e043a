import { appendFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'

/** Where a call of the service begins: tests send statements of their own. */
const NEAREST = /[\\/](src|test)[\\/][^\n]*\.ts/

/** Statements that PostgreSQL prepares. */
const PREPARABLE = /^\s*(?:select|with|insert|update|delete|values)\b/i

declare global {
  var isRecordingStatements: boolean | undefined
}

/** Writes into a folder, a file for each process, which statements the service sends to a server from now on. */
export function recordStatements(folder: string): void {
  if (globalThis.isRecordingStatements) return
  globalThis.isRecordingStatements = true
  mkdirSync(folder, { recursive: true })
  const seen = new Set<string>()
  const { prototype } = pg.Client
  const send = prototype.query as (...parameters: unknown[]) => unknown
  prototype.query = function query(this: pg.Client, ...parameters: unknown[]) {
    const [first] = parameters as [string | { text?: string }]
    const text = typeof first === 'string' ? first : first?.text
    if (text && PREPARABLE.test(text) && !seen.has(text) && isOfService()) {
      seen.add(text)
      appendFileSync(join(folder, `${process.pid}.jsonl`), `${JSON.stringify(text)}\n`)
    }
    return send.apply(this, parameters)
  } as typeof prototype.query
}

function isOfService(): boolean {
  const before = Error.stackTraceLimit
  Error.stackTraceLimit = 60
  const { stack = '' } = new Error('here')
  Error.stackTraceLimit = before
  const callers = stack
    .split('\n')
    .slice(3)
    .join('\n')
    .replaceAll(/^.*src[\\/]data[\\/](?:pool|client|sql)\.ts.*$/gm, '')
  return NEAREST.exec(callers)?.[1] !== 'test'
}
