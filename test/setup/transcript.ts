import { userInfo } from 'node:os'
import { runAgro } from './cli.ts'
import type { TestDatabase } from './database.ts'

const HOUR_MS = 3_600_000

/** What a slow machine is told more often. */
const PROGRESS = /^\w+( [\w-]+)*: \d+ (%|s|areas).*\n/gm

/**
 * Runs commands, one a line without the word `agro`, and gives them with what they answer: stderr behind a `!`, and
 * exit codes but 0. What differs between two runs is left out, for a file that says what is answered.
 *
 * @param names words of the commands, and what each stands for; answers have the words again
 */
export async function transcribe(
  testDatabase: Pick<TestDatabase, 'environment'>,
  commands: string,
  names: Record<string, string> = {},
): Promise<string> {
  const inFull = (text: string) =>
    Object.entries(names).reduce((found, [name, value]) => found.replaceAll(name, value), text)
  const parts: string[] = []
  for (const line of commands.trim().split('\n')) {
    const words = line.match(/'[^']*'|\S+/g) ?? []
    if (words.length === 0) continue
    parts.push(`$ agro ${words.join(' ')}\n`)
    const parameters = words.map((word) => inFull(word.replaceAll("'", '')))
    const { code, stdout, stderr } = await runAgro(testDatabase, ...parameters)
    // Behind a mistake in a command there is its help.
    const said = code === 2 ? stderr.replace(/(?<=\n)\nUsage: [\s\S]*/, '') : stderr
    parts.push(stdout, said.replaceAll(PROGRESS, '').replaceAll(/^(?=.)/gm, '! '))
    if (code !== 0) parts.push(`[exit code ${code}]\n`)
    parts.push('\n')
  }
  const text = Object.entries(names).reduce(
    (found, [name, value]) => found.replaceAll(value, name),
    parts.join(''),
  )
  return settled(text)
}

/** Who runs the tests, where a command says who has done something. */
const OPERATOR = new RegExp(
  `(operator=|scheduled by | {2})${userInfo().username.replaceAll('.', '\\.')}(?= |$)`,
  'gm',
)

/** Without times of today, durations, sizes, ids and the name of who runs the tests. */
function settled(text: string): string {
  return text
    .replaceAll(/\b20\d\d-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?)?/g, (time) =>
      isNow(time) ? 'NOW' : time,
    )
    .replaceAll(/\b\d+\.\d s\b/g, 'N s')
    .replaceAll(/"seconds": [\d.]+/g, '"seconds": N')
    .replaceAll(/\b\d+(\.\d)? kB\b/g, 'N kB')
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID')
    .replaceAll(OPERATOR, '$1OPERATOR')
    .replaceAll(/(?<=\S) {2,}/g, '  ')
}

function isNow(time: string): boolean {
  const [day = '', hour] = time.replace('Z', '').split(/[T ]/)
  const since = Date.now() - Date.parse(`${day}T${hour ?? '00:00'}Z`)
  return Math.abs(since) < (hour ? 1 : 25) * HOUR_MS
}
