import { readdirSync, readFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { join, relative, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '../..')
const QUERIES = /^src\/.*queries\.ts$/

/** The functions that make statements: those that files of queries export, as `FILE FUNCTION`. */
export function listStatements(): string[] {
  return readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .map((name) => join('src', name))
    .filter((file) => QUERIES.test(file))
    .flatMap((file) => {
      const text = readFileSync(join(ROOT, file), 'utf8')
      const names = text.matchAll(/^export (?:async )?(?:function\*? |const (?=\w+ = (?:async )?\())(\w+)/gm)
      return [...names].map(([, name]) => `${file} ${name}`)
    })
    .sort()
}

let session: Session | undefined

/** Counts calls from now on in this process. */
export async function startCounting(): Promise<void> {
  if (session) return
  session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
}

/** @returns the functions that ran since the last call, as `listStatements` names them */
export async function takeStatements(): Promise<string[]> {
  const { result } = (await session?.post('Profiler.takePreciseCoverage')) ?? { result: [] }
  return result.flatMap(({ url, functions }) => {
    const file = relative(ROOT, url.replace(/^file:\/\//, ''))
    if (!QUERIES.test(file)) return []
    return functions
      .filter(({ functionName, ranges }) => functionName !== '' && (ranges[0]?.count ?? 0) > 0)
      .map(({ functionName }) => `${file} ${functionName}`)
  })
}
