import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { commandsBelow, createProgram, operate } from '#src/cli/program.ts'
import { EXIT } from '#src/cli/terminal.ts'
import { EXTENSIONS } from '#src/extensions/index.ts'
import { VERSION } from '#src/lib/version.ts'

/** The commands that do something, as they are typed. */
const commands = commandsBelow(await createProgram())
  .filter((command) => command.commands.length === 0)
  .map((command) => {
    const path = [command.name()]
    for (let above = command.parent; above?.parent; above = above.parent) path.unshift(above.name())
    return { path, command }
  })

describe.each(commands)('agro $path', ({ path, command }) => {
  test('has a help with what it does and examples that call it', async () => {
    const [code, help] = await told(...path, '--help')
    expect(code).toBe(0)
    expect(command.description()).toMatch(/^[A-Z].*\.$/)
    const examples = help.split('\nExamples:\n')[1]?.trimEnd().split('\n') ?? []
    expect(examples.length).toBeGreaterThan(0)
    for (const example of examples) expect(example).toContain(`  agro ${path.join(' ')}`)
  })

  test('answers in JSON where that is wanted, and tells the version', async () => {
    expect(command.options.map(({ long }) => long)).toContain('--json')
    expect(await told(...path, '--version')).toEqual([0, `${VERSION}\n`])
  })
})

test('what destroys for good or takes answers away asks first', () => {
  const ofExtensions = EXTENSIONS.flatMap(({ commands = {} }) => Object.keys(commands))
  const asking = commands
    .filter(({ path }) => !ofExtensions.some((one) => `${path.join(' ')} `.startsWith(`${one} `)))
    .filter(({ command }) => command.options.some(({ long }) => long === '--yes'))
  expect(asking.map(({ path }) => path.join(' '))).toEqual([
    'releases prune',
    'releases rollback',
    'releases delete',
    'users delete',
  ])
})

const TIME = 'It must be a time such as 2026-11-01 or 2026-11-01T08:30:00Z.'

test.each([
  [['ingets'], "error: unknown command 'ingets'\n(Did you mean ingest?)\n\nUsage: agro"],
  [['ingest', '--dryrun', 'x.yaml'], "error: unknown option '--dryrun'"],
  [['ingest'], "error: missing required argument 'manifest'"],
  [['ingest', 'x.yaml', '--max-change', '-3'], 'It must be a percentage, such as 25%.'],
  [['releases', 'publish', 'x', '--max-change', 'much'], 'It must be a percentage, such as 25%.'],
  [['releases', 'prune', '--keep', 'few'], 'It must be a whole number from 0 on.'],
  [['releases', 'schedule', 'x', '--at', '2099-02-30'], TIME],
  [['releases', 'schedule', 'x', '--at', '2099-12-01T06:00'], TIME],
  [['audit', '--since', 'yesterday'], TIME],
  [['audit', '--since', '2026-13-01'], TIME],
  [['audit', '--kind', 'x'], "option '--kind <kind>' argument 'x' is invalid. Allowed choices are login, "],
])('agro %j ends with 2 and says the mistake', async (parameters, sentence) => {
  expect(await outputOf('stderr', parameters)).toEqual([2, expect.stringContaining(sentence)])
})

test('the help says the exit codes', async () => {
  const [code, help] = await told('--help')
  expect(code).toBe(0)
  expect(help).toMatch(/Exit codes:\n {2}0 {4}done\n {2}1 .*\n {2}2 .*\n {2}70 .*\n {2}130 /)
})

describe('with EXTENSIONS', () => {
  const command = EXTENSIONS.flatMap(
    ({ name, commands = {} }) => Object.keys(commands).map((path) => ({ path, name })),
    // Groups of the core outlive a program, and keep what the tests before have added.
  ).find(({ path }) => !path.includes(' '))
  afterEach(() => void vi.unstubAllEnvs())

  test('a command of an extension that is off says so, and the help leaves it out', async () => {
    if (!command) return
    // With those that need it.
    vi.stubEnv('EXTENSIONS', EXTENSIONS.map(({ name }) => `-${name}`).join())
    const error = vi.spyOn(console, 'error').mockImplementation(() => {})
    onTestFinished(() => error.mockRestore())
    expect(await operate([...command.path.split(' '), 'some', '--thing'])).toBe(EXIT.usage)
    expect(error.mock.calls).toEqual([
      [
        `agro ${command.path} is a command of the extension ${command.name}, which is off: leave -${command.name} out of EXTENSIONS.`,
      ],
    ])
    const [, help] = await told('--help')
    expect(help).not.toMatch(new RegExp(`^  ${command.path}\\b`, 'm'))
  })

  test('that cannot be read, the help says why it shows all', async () => {
    vi.stubEnv('EXTENSIONS', '-nothing')
    const [code, help] = await told('--help')
    expect(code).toBe(0)
    expect(help).toMatch(
      /\nCommands of all extensions are shown, for EXTENSIONS names nothing, and there are .*\.\n/,
    )
  })
})

/** The output of a command that needs no database, and its exit code. */
async function outputOf(stream: 'stdout' | 'stderr', parameters: string[]): Promise<[number, string]> {
  let output = ''
  const spy = vi.spyOn(process[stream], 'write').mockImplementation((text) => {
    output += text
    return true
  })
  try {
    return [await operate(parameters), output]
  } finally {
    spy.mockRestore()
  }
}

const told = (...parameters: string[]) => outputOf('stdout', parameters)
