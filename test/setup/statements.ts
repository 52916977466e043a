import { readdirSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { join, relative, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '../..')
const QUERIES = /^src\/.*queries\.ts$/

/** Where code makes a statement or a part of one, and where it sends one. */
const STATEMENT = /\bsql`(?!`)|\.(?:execute|executeTakeFirst|executeTakeFirstOrThrow|stream)\(/g
/** The function or constant that it lies in begins a line. */
const NAME = /^(?:export )?(?:async )?(?:function\*? |const |class )(\w+)/gm

/** Statements of loaded modules, and whether they ran, by `FILE FUNCTION NUMBER`. */
export type StatementRuns = Record<string, boolean>

interface Range {
  startOffset: number
  endOffset: number
  count: number
}

let session: Session | undefined

/** Where the statements of a loaded script are, by the key of each. */
const positions = new Map<string, [key: string, position: number][]>()
/** What was told so far. */
const told: StatementRuns = {}

/** Counts from now on what runs in this process. A module is counted whose import comes later. */
export async function startCounting(): Promise<void> {
  if (session) return
  session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
}

/** @returns which statements were loaded or ran for the first time since the last call */
export async function takeRuns(): Promise<StatementRuns> {
  const runs: StatementRuns = {}
  if (!session) return runs
  const { result } = await session.post('Profiler.takePreciseCoverage')
  for (const { scriptId, url, functions } of result) {
    const file = relative(ROOT, url.replace(/^file:\/\//, ''))
    if (!QUERIES.test(file)) continue
    const found = positions.get(scriptId) ?? (await findPositions(session, scriptId, file))
    positions.set(scriptId, found)
    const ranges = functions.flatMap((one) => one.ranges)
    for (const [key, position] of found) {
      if (told[key]) continue
      const ran = (countAt(position, ranges) ?? 0) > 0
      if (ran || !(key in told)) runs[key] = told[key] = ran
    }
  }
  return runs
}

async function findPositions(
  inspector: Session,
  scriptId: string,
  file: string,
): Promise<[key: string, position: number][]> {
  await inspector.post('Debugger.enable')
  const { scriptSource } = await inspector.post('Debugger.getScriptSource', { scriptId })
  await inspector.post('Debugger.disable')
  return [...scriptSource.matchAll(STATEMENT)].map(({ index }, number) => {
    const [, name] = [...scriptSource.slice(0, index).matchAll(NAME)].at(-1) ?? []
    return [`${file} ${name} ${number + 1}`, index]
  })
}

/** How often the code at a position ran: the smallest range around it says so. */
function countAt(position: number, ranges: Range[]): number | undefined {
  return ranges
    .filter(({ startOffset, endOffset }) => startOffset <= position && position < endOffset)
    .toSorted((one, other) => one.endOffset - one.startOffset - (other.endOffset - other.startOffset))[0]
    ?.count
}

/** @param all what each file of a whole run has said */
export function mistakesOfRuns(all: StatementRuns[]): { ran: number; mistakes: string[] } {
  const known = new Set(all.flatMap((runs) => Object.keys(runs)))
  const ran = new Set(all.flatMap((runs) => Object.keys(runs).filter((key) => runs[key])))
  const loaded = new Set([...known].map((key) => key.split(' ')[0]))
  const files = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .map((name) => join('src', name))
    .filter((file) => QUERIES.test(file))
  return {
    ran: ran.size,
    mistakes: [
      ...files.filter((file) => !loaded.has(file)).map((file) => `No test loads ${file}.`),
      ...[...known]
        .filter((key) => !ran.has(key))
        .toSorted()
        .map((key) => `No test runs statement ${key}.`),
    ],
  }
}
