import { execFile } from 'node:child_process'
import { mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../..')
const EXAMPLES = join(ROOT, 'examples')

/** Somewhere else than the service, with a link to its tool. */
let folder: string
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'agro-elsewhere-')))
  await symlink(join(ROOT, 'bin/agro.mjs'), join(folder, 'agro'))
})
afterAll(() => rm(folder, { recursive: true }))

const INGEST = ['ingest', 'missing.yaml']

describe('a file is looked for where the user of agro stands', () => {
  const missingIn = (standing: string) => ({
    code: 1,
    stderr: `${join(standing, 'missing.yaml')} does not exist.`,
  })

  test('by a link in PATH', async () => {
    expect(await run(folder, 'agro', INGEST)).toEqual(missingIn(folder))
  })

  test('by npm run, in a folder of the project', async () => {
    expect(await run(EXAMPLES, 'npm', ['run', '-s', 'agro', '--', ...INGEST])).toEqual(missingIn(EXAMPLES))
  })

  test('and named as it was typed in the folder of the service', async () => {
    const { stderr } = await run(ROOT, 'agro', INGEST)
    expect(stderr).toBe('missing.yaml does not exist.')
  })
})

test('the settings are those of the service, wherever the user of agro stands', async () => {
  const settings = 'LOG_LEVEL=nonsense\n'
  await writeFile(join(folder, '.env'), settings)
  const list = ['releases', 'list']
  expect(await run(folder, 'agro', list)).toEqual({
    code: 1,
    stderr: expect.stringMatching(/^The database nothing on 127\.0\.0\.1:1 cannot be reached: /),
  })
  const asked = await run(folder, 'agro', list, { ENV_FILE: join(folder, '.env') })
  expect(asked).toEqual({ code: 1, stderr: expect.stringContaining('LOG_LEVEL') })
})

/** Nothing is there. */
const DATABASE_URL = 'postgres://somebody@127.0.0.1:1/nothing'

interface Outcome {
  code: number
  stderr: string
}

/** Runs a program where somebody stands, without what npm has set for the tests. */
function run(cwd: string, file: string, parameters: string[], environment = {}): Promise<Outcome> {
  const PATH = [folder, process.env.PATH].join(delimiter)
  const env = { PATH, HOME: folder, DATABASE_URL, ...environment }
  return new Promise((resolve) => {
    execFile(file, parameters, { cwd, env }, (error, _, stderr) => {
      // npm adds how its script has ended.
      const [line = ''] = stderr.split('\n')
      resolve({ code: Number(error?.code ?? 0), stderr: line })
    })
  })
}
