// Runs on either database: what is tested are the commands of the guide.
import { spawnSync } from 'node:child_process'
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { newFolder } from '#test/setup/folders.ts'
import { openService } from '#test/setup/open-service.ts'
import { loadFiles, makeKey } from './made.ts'

const TOOLS = ['jq', 'openssl', 'gdallocationinfo']
const areThere = TOOLS.every((tool) => spawnSync('which', [tool]).status === 0)
if (!areThere) console.warn(`not tried: the guide needs ${TOOLS.join(', ')}`)

let code: string
const service = openService({
  template: 'empty',
  settings: { SIGNING_KEY: makeKey() },
  async prepare(database) {
    code = (await loadFiles(database)).code
  },
})

/** The commands of the guide, with what `curl` would fetch in files. */
let script: string
const served: Record<string, Buffer> = {}
beforeAll(async () => {
  const guide = await readFile('docs/guide/signatures.md', 'utf8')
  const [, commands = ''] = /```sh\n(FILE=[\s\S]*?)\n```/.exec(guide) ?? []
  const [, query = ''] = /curl "\$URL(\/advisory.*?)"/.exec(commands) ?? []
  const paths = {
    answer: query.replace('$RELEASE', code),
    statement: `/releases/${code}/statement`,
    // Its signature makes the key public, if the start has not yet.
    release: `/releases/${code}`,
    keys: '/.well-known/jwks.json',
  }
  for (const [name, path] of Object.entries(paths)) {
    const { statusCode, rawPayload } = await service.app.inject(path)
    expect([path, statusCode]).toEqual([path, 200])
    served[name] = rawPayload
  }
  expect(commands).toContain(`RELEASE=${code}`)
  script = `
    curl() {
      case "$1" in */advisory/*) cat from.answer ;; */statement) cat from.statement ;; */jwks.json) cat from.keys ;; *) cat from.release ;; esac
    }
    ${commands.replace(/^FILE=\S+/, 'FILE=urea-normal.tif')}`
})

/** Follows the guide in a folder with the file of the institute alone. */
async function follow(changes: Record<string, Buffer> = {}) {
  const folder = await newFolder()
  await copyFile(resolve('examples/rwanda/urea-normal.tif'), join(folder, 'urea-normal.tif'))
  for (const [name, bytes] of Object.entries(served)) await writeFile(join(folder, `from.${name}`), bytes)
  for (const [name, bytes] of Object.entries(changes)) await writeFile(join(folder, name), bytes)
  const { status, stdout, stderr } = spawnSync('bash', ['-c', script], { cwd: folder, encoding: 'utf8' })
  return { status, stdout, stderr }
}

/** With one byte changed behind a text. */
function changed(bytes: Buffer, behind: string, by = 1): Buffer {
  const copy = Buffer.from(bytes)
  const at = copy.indexOf(behind) + behind.length
  copy[at] = (copy[at] as number) ^ by
  return copy
}

test.skipIf(!areThere)('the guide proves an answer, and its commands show what is proven', async () => {
  const { status, stdout, stderr } = await follow()
  expect([status, stderr, stdout]).toEqual([0, '', expect.any(String)])
  expect(stdout).toMatch(/Signature Verified Successfully/)
  const { keys } = JSON.parse(String(served.keys))
  expect(stdout.split('\n')[0]).toBe(keys[0].kid)
  const proven = { fertilizer_type: 'Urea', scenario: 'Normal', rate_kg_ha: 130 }
  expect(JSON.parse(stdout.slice(stdout.indexOf('{')))).toEqual(proven)
})

test.skipIf(!areThere)(
  'one changed byte of the file, statement, signature, key or number is found',
  async () => {
    const { answer, statement, keys, release } = served as Record<string, Buffer>
    const file = await readFile('examples/rwanda/urea-normal.tif')
    const cases: Record<string, Buffer> = {
      'urea-normal.tif': changed(file, '\0'),
      'from.release': changed(release as Buffer, '..', 2),
      'from.keys': changed(keys as Buffer, '"x":"', 2),
      'from.answer': changed(answer as Buffer, '"rate_kg_ha":1'),
    }
    for (const [name, bytes] of Object.entries(cases)) {
      expect([name, (await follow({ [name]: bytes })).status]).not.toEqual([name, 0])
    }
    for (const behind of ['"sha256":"', '"scenario":"', '"release":"', '"scale":', '"srid":', '"file']) {
      const { status } = await follow({ 'from.statement': changed(statement as Buffer, behind) })
      expect([behind, status]).not.toEqual([behind, 0])
    }
  },
)

test.skipIf(!areThere)('swapped values, and an answer of another release, are found', async () => {
  const answer = String(served.answer)
  const below = await readFile('examples/rwanda/urea-below-normal.tif')
  const { stdout } = await follow({ 'urea-normal.tif': below })
  expect(stdout).toMatch(/"scenario": "Below Normal",\s+"rate_kg_ha": 111/)
  const swapped = answer.replace(/130(.*)111/, '111$1130')
  const other = answer.replace(code, code.replace('v1', 'v2'))
  expect(new Set([answer, swapped, other]).size).toBe(3)
  for (const one of [swapped, other]) {
    expect((await follow({ 'from.answer': Buffer.from(one) })).status).not.toBe(0)
    expect((await follow({ 'from.answer': Buffer.from(one), 'urea-normal.tif': below })).status).not.toBe(0)
  }
})
