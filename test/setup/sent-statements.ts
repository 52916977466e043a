import pg from 'pg'

/** A statement as the driver sends it, and where `src` asks for it. */
export interface SentStatement {
  text: string
  from: string
}

/** A call from a file of the service or of a test. */
const CALL = /at (?:async )?(?:(?:\w+\.)*(\w+) (?:\[as \w+\] )?\()?[^\s(]*?[\\/]((src|test)[\\/][^:)]*\.ts)/

/** What sends statements for others. */
const SENDERS =
  /^src[\\/](?:data[\\/](?:pool|client|sql|replica-reads|cancellable|work-lock)|lib[\\/](?:promises|time-budget))\.ts$/

/** The embedded database has run these: its templates are made by them. */
const MIGRATIONS = /^src[\\/]data[\\/]migrate\.ts$/

/** What PostgreSQL prepares, and the temporary tables that it needs. */
const KEPT =
  /^(?:\s|--.*)*(?:(?:select|with|insert|update|delete|values|declare|create temporary table)\b|copy \()/i

declare global {
  /** Of this process, by text: modules of tests may be loaded anew. Undefined as long as nothing is recorded. */
  var sentStatements: { fresh: SentStatement[] } | undefined
}

/** Keeps from now on the statements that the service sends from this process. Tests send some of their own. */
export function startRecording(): void {
  if (globalThis.sentStatements) return
  const [texts, shapes] = [new Set<string>(), new Set<string>()]
  const fresh: SentStatement[] = []
  globalThis.sentStatements = { fresh }
  const { prototype } = pg.Client
  const send = prototype.query as (...parameters: unknown[]) => unknown
  prototype.query = function query(this: pg.Client, ...parameters: unknown[]) {
    const [first] = parameters as [string | { text?: string }]
    const text = typeof first === 'string' ? first : first?.text
    if (text && !texts.has(text) && KEPT.test(text)) {
      const [shape, from] = [shapeOf(text), findSender()]
      if (from) texts.add(text)
      if (from && !shapes.has(shape)) {
        shapes.add(shape)
        fresh.push({ text, from })
      }
    }
    return send.apply(this, parameters)
  } as typeof prototype.query
}

/** @returns the statements that were sent for the first time since the last call */
export function takeSent(): SentStatement[] {
  return globalThis.sentStatements?.fresh.splice(0) ?? []
}

/** The file and function of `src` that is nearest in the stack; undefined where a test or a migration sends. */
function findSender(): string | undefined {
  const before = Error.stackTraceLimit
  Error.stackTraceLimit = 60
  const { stack = '' } = new Error('here')
  Error.stackTraceLimit = before
  for (const line of stack.split('\n')) {
    const [, name, file, folder] = CALL.exec(line) ?? []
    if (!file || SENDERS.test(file) || import.meta.filename.endsWith(file)) continue
    if (folder === 'test' || MIGRATIONS.test(file)) return undefined
    return `${file} ${name ?? ''}`.trimEnd()
  }
  return undefined
}

/** The statements by {@link shapeOf}. */
export function oneOfEach(sent: SentStatement[]): SentStatement[] {
  return [...new Map(sent.map((one) => [shapeOf(one.text), one])).values()]
}

/** A statement without what it has more or less of: space, values in lists, and lists. */
function shapeOf(text: string): string {
  return text
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replaceAll(/\$\d+/g, '$')
    .replaceAll(/\$(?:, \$)+/g, '$')
    .replaceAll(/(\([^()]*\$[^()]*\))(?:, \1)+/g, '$1')
    .replaceAll(/'\{[^']*\}'/g, "'{}'")
}
