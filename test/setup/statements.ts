import { readdirSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { join, relative, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '../..')
const QUERIES = /^src\/.*queries\.ts$/

/** Where code makes a statement or a part of one, and where it sends one. */
const STATEMENT = /\bsql`(?!`)|\.(?:execute|executeTakeFirst|executeTakeFirstOrThrow|stream)\(/g
/** The function or constant that it lies in begins a line. */
const NAME = /^(?:export )?(?:async )?(?:function\*? |const |class )(\w+)/gm

/** Statements that tests of the embedded database do not reach, each with the reason. */
const ELSEWHERE: Record<string, string> = {
  'src/extensions/doctor/queries.ts fillTemporarily': 'looks for room on the disk of a server',
  'src/extensions/doctor/queries.ts findReplay': 'asks a replica, which the embedded database never has',
}

/** Statements of loaded modules, and whether they ran, by `FILE FUNCTION NUMBER`. */
export type StatementRuns = Record<string, boolean>

interface Range {
  startOffset: number
  endOffset: number
  count: number
}

let session: Session | undefined

/** Counts from now on what runs in this process. A module is counted whose import comes later. */
export async function startCounting(): Promise<void> {
  if (session) return
  session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
}

/** @returns which statements ran since the last call */
export async function takeRuns(): Promise<StatementRuns> {
  const runs: StatementRuns = {}
  if (!session) return runs
  const { result } = await session.post('Profiler.takePreciseCoverage')
  await session.post('Debugger.enable')
  for (const { scriptId, url, functions } of result) {
    const file = relative(ROOT, url.replace(/^file:\/\//, ''))
    if (!QUERIES.test(file)) continue
    const { scriptSource } = await session.post('Debugger.getScriptSource', { scriptId })
    const ranges = functions.flatMap((one) => one.ranges)
    for (const [number, { index }] of [...scriptSource.matchAll(STATEMENT)].entries()) {
      const [, name] = [...scriptSource.slice(0, index).matchAll(NAME)].at(-1) ?? []
      const key = `${file} ${name} ${number + 1}`
      runs[key] = runs[key] || (countAt(index, ranges) ?? 0) > 0
    }
  }
  await session.post('Debugger.disable')
  return runs
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
  const isElsewhere = (key: string) => key.replace(/ \d+$/, '') in ELSEWHERE
  const files = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .map((name) => join('src', name))
    .filter((file) => QUERIES.test(file))
  const isKnown = (start: string) => [...known].some((key) => key.startsWith(`${start} `))
  const missed = [...known].filter((key) => !ran.has(key) && !isElsewhere(key))
  const needless = Object.keys(ELSEWHERE).filter(
    (start) => ![...known].some((key) => key.startsWith(`${start} `) && !ran.has(key)),
  )
  return {
    ran: ran.size,
    mistakes: [
      ...files
        .filter((file) => !isKnown(file))
        .map((file) => `No test of the embedded database loads ${file}.`),
      ...missed.toSorted().map((key) => `No test of the embedded database runs statement ${key}.`),
      ...needless.map((start) => `ELSEWHERE in test/setup/statements.ts need not name ${start}.`),
    ],
  }
}
