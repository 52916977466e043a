import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

test('a file and a folder that are named to `npm test` have their own tests run', async () => {
  const { failed, files } = await runTests('src/lib/round.ts', 'test/products')
  expect([failed, files.toSorted()]).toEqual([
    false,
    ['test/lib/round.test.ts', 'test/products/define.test.ts'],
  ])
})

test('a name without tests is refused by `npm test`, which says where it looked', async () => {
  const sentence =
    'No tests: test/nothing.test.ts, test/nothing, test/extensions/nothing. Name a folder of src or test, or an extension.\n'
  expect(await runTests('nothing')).toEqual({ failed: true, files: [], stderr: sentence })
})

const run = promisify(execFile)

/** Runs `npm test` with names, as its script does. */
async function runTests(...names: string[]) {
  const env = { ...process.env, NO_COLOR: '1', VITEST: undefined, TEST_DATABASE_URL: '' }
  const command = ['bin/run.mjs', 'scripts/test.ts', ...names, '--project=unit', '--reporter=verbose']
  const { stdout, stderr, ...failure } = await run(process.execPath, command, { env }).catch(
    (error: { code: number; stdout: string; stderr: string }) => error,
  )
  const files = [...stdout.matchAll(/ (test\/\S+\.test\.ts) > /g)].map(([, file]) => file)
  return { failed: 'code' in failure, files: [...new Set(files)], stderr }
}
