import { describe, expect, test, vi } from 'vitest'
import { commandsBelow, createProgram, operate } from '#src/cli/program.ts'
import { VERSION } from '#src/lib/version.ts'

/** The commands that do something, as they are typed. */
const commands = commandsBelow(await createProgram())
  .filter((command) => command.commands.length === 0)
  .map((command) => {
    const path = [command.name()]
    for (let above = command.parent; above?.parent; above = above.parent) path.unshift(above.name())
    return { path, command }
  })

/** What is written to stdout by a command that needs no database, and its exit code. */
async function told(...parameters: string[]): Promise<[code: number, stdout: string]> {
  let stdout = ''
  const spy = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    stdout += text
    return true
  })
  try {
    return [await operate(parameters), stdout]
  } finally {
    spy.mockRestore()
  }
}

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

test('what destroys for good, or takes answers away, asks first', () => {
  const asking = commands.filter(({ command }) => command.options.some(({ long }) => long === '--yes'))
  expect(asking.map(({ path }) => path.join(' '))).toEqual([
    'releases prune',
    'releases rollback',
    'releases delete',
    'countries remove',
    'crops remove',
    'users delete',
  ])
})

test('the help says the exit codes', async () => {
  const [code, help] = await told('--help')
  expect(code).toBe(0)
  expect(help).toMatch(/Exit codes:\n {2}0 {4}done\n {2}1 .*\n {2}2 .*\n {2}70 .*\n {2}130 /)
})
