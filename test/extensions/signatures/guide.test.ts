// Runs on either database: what is tested are the commands of the guide.
import { execFileSync, spawnSync } from 'node:child_process'
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { newFolder } from '#test/setup/folders.ts'
import { openService } from '#test/setup/open-service.ts'
import { EXAMPLE, loadFiles, makeKey } from './made.ts'

const TOOLS = ['jq', 'openssl', 'gdallocationinfo', 'gdal_translate']
const areThere = TOOLS.every((tool) => spawnSync('which', [tool]).status === 0)
if (!areThere) console.warn(`not tried: the guide needs ${TOOLS.join(', ')}`)

const NORMAL = 'examples/rwanda/urea-normal.tif'
const BELOW = 'examples/rwanda/urea-below-normal.tif'
const INSTITUTE = { 'urea-normal.tif': NORMAL }

let code: string
const service = openService({
  template: 'empty',
  settings: { SIGNING_KEY: makeKey() },
  async prepare(database) {
    code = (await loadFiles(database)).code
  },
})

/** The commands of the guide, where `curl` gives what is in files. */
let script: string
let served: Record<string, Buffer>
beforeAll(async () => {
  const guide = await readFile('docs/guide/signatures.md', 'utf8')
  const [, commands = ''] = /```sh\n(FILE=[\s\S]*?)\n```/.exec(guide) ?? []
  expect(commands).toContain(`RELEASE=${code}`)
  script = `
    curl() {
      case "$1" in */advisory/*) cat from.answer ;; */statement) cat from.statement ;; */jwks.json) cat from.keys ;; *) cat from.release ;; esac
    }
    ${commands}`
  served = await fetchAll(code)
})

/** What the commands ask for. */
async function fetchAll(release: string): Promise<Record<string, Buffer>> {
  const [, query = ''] = /curl "\$URL(\/advisory.*?)"/.exec(script) ?? []
  const paths = {
    answer: query.replace('$RELEASE', release),
    statement: `/releases/${release}/statement`,
    // Its signature makes the key public, if the start has not yet.
    release: `/releases/${release}`,
    keys: '/.well-known/jwks.json',
  }
  const answers: Record<string, Buffer> = {}
  for (const [name, path] of Object.entries(paths)) {
    const { status, bytes } = await service.get(path)
    expect([path, status]).toEqual([path, 200])
    answers[name] = bytes
  }
  return answers
}

test.skipIf(!areThere)('the guide proves an answer, and its commands show what is proven', async () => {
  const { status, stdout, stderr, proven } = await follow()
  expect([status, stderr, stdout]).toEqual([0, '', expect.any(String)])
  expect(stdout).toMatch(/Signature Verified Successfully/)
  const { keys } = JSON.parse(String(served.keys))
  expect(stdout.split('\n')[0]).toBe(keys[0].kid)
  expect(JSON.parse(proven)).toEqual({ fertilizer_type: 'Urea', scenario: 'Normal', rate_kg_ha: 130 })
})

/** With one byte changed behind a text. */
function changed(bytes: Buffer, behind: string, by = 1): Buffer {
  const copy = Buffer.from(bytes)
  const at = copy.indexOf(behind) + behind.length
  copy[at] = (copy[at] as number) ^ by
  return copy
}

test.skipIf(!areThere)(
  'one changed byte of the file, statement, signature, key or number is found',
  async () => {
    const { answer, statement, keys, release } = served as Record<string, Buffer>
    const file = await readFile(NORMAL)
    const cases: Record<string, Buffer> = {
      'urea-normal.tif': changed(file, '\0'),
      'from.release': changed(release as Buffer, '..', 2),
      'from.keys': changed(keys as Buffer, '"x":"', 2),
      'from.answer': changed(answer as Buffer, '"rate_kg_ha":1'),
    }
    for (const [name, bytes] of Object.entries(cases)) {
      expect([name, (await follow({ changes: { [name]: bytes } })).status]).not.toEqual([name, 0])
    }
    for (const behind of ['"sha256":"', '"scenario":"', '"release":"', '"scale":', '"srid":', '"file']) {
      const { status } = await follow({
        changes: { 'from.statement': changed(statement as Buffer, behind) },
      })
      expect([behind, status]).not.toEqual([behind, 0])
    }
  },
)

test.skipIf(!areThere)('swapped values, and an answer of another release, are found', async () => {
  const answer = String(served.answer)
  const below = await readFile(BELOW)
  const { stdout } = await follow({ changes: { 'urea-normal.tif': below } })
  expect(stdout).toMatch(/"scenario": "Below Normal",\s+"rate_kg_ha": 111/)
  const swapped = answer.replace(/130(.*)111/, '111$1130')
  const other = answer.replace(code, code.replace('v1', 'v2'))
  expect(new Set([answer, swapped, other]).size).toBe(3)
  for (const one of [swapped, other]) {
    const answered = { 'from.answer': Buffer.from(one) }
    expect((await follow({ changes: answered })).status).not.toBe(0)
    expect((await follow({ changes: { ...answered, 'urea-normal.tif': below } })).status).not.toBe(0)
  }
})

/** Loads the example with other files, as another release. */
async function loadAs(month: string, files: Record<string, string>, change: (manifest: string) => string) {
  const folder = await newFolder()
  for (const [name, path] of Object.entries(files)) await copyFile(path, join(folder, name))
  const text = String(await readFile(EXAMPLE)).replace(/^forecast_period: .*$/m, `forecast_period: ${month}`)
  await writeFile(join(folder, 'manifest.yaml'), change(text))
  return fetchAll((await loadFiles(service.database, join(folder, 'manifest.yaml'))).code)
}

test.skipIf(!areThere)(
  'a zip of several rasters proves each with the path in it, and none without',
  async () => {
    const folder = await newFolder()
    await mkdir(join(folder, 'urea'))
    await copyFile(NORMAL, join(folder, 'urea/normal.tif'))
    await copyFile(BELOW, join(folder, 'urea/below.tif'))
    execFileSync('python3', ['-m', 'zipfile', '-c', 'rasters.zip', 'urea'], { cwd: folder })
    const files = { 'rasters.zip': join(folder, 'rasters.zip') }
    const answers = await loadAs('2026-09', files, (text) =>
      text
        .replace('urea-normal.tif', 'rasters.zip/urea/normal.tif')
        .replace('urea-below-normal.tif', 'rasters.zip/urea/below.tif'),
    )
    const { files: stated } = JSON.parse(String(answers.statement))
    const paths = stated.flatMap(({ layers }: { layers: { path: string }[] }) =>
      layers.map(({ path }) => path),
    )
    expect(paths).toEqual(['urea/normal.tif', 'urea/below.tif'])
    const rates: unknown[] = []
    for (const inside of paths) {
      const { status, proven } = await follow({ files, answers, inside })
      expect([inside, status]).toEqual([inside, 0])
      const { scenario, rate_kg_ha } = JSON.parse(proven)
      rates.push([scenario, rate_kg_ha])
    }
    expect(rates).toEqual([
      ['Normal', 130],
      ['Below Normal', 111],
    ])
    expect((await follow({ files, answers })).status).not.toBe(0)
  },
)

/** A mask beside a file, of one number, as GDAL knows it. */
async function makeMask(value: number): Promise<string> {
  const file = join(await newFolder(), `${value}.msk`)
  const ofAll = ['-ot', 'Byte', '-scale', '0', '1000', `${value}`, `${value}`, '-a_nodata', 'none']
  execFileSync('gdal_translate', [
    '-q',
    '-of',
    'GTiff',
    ...ofAll,
    '-mo',
    'INTERNAL_MASK_FLAGS_1=2',
    NORMAL,
    file,
  ])
  return file
}

test.skipIf(!areThere)('a pixel of no value, by the manifest or by a mask, proves no answer', async () => {
  const whole = { ...INSTITUTE, 'urea-normal.tif.msk': await makeMask(255) }
  const masked = { ...INSTITUTE, 'urea-normal.tif.msk': await makeMask(0) }
  const below = { 'urea-below-normal.tif': BELOW }
  const answers = await loadAs('2026-10', { ...whole, ...below }, (text) => text)
  expect((await follow({ files: whole, answers })).status).toBe(0)
  expect((await follow({ files: masked, answers })).status).not.toBe(0)

  const ignored = await loadAs('2026-11', { ...masked, ...below }, (text) =>
    text.replace('    input: Urea', '    mask: none\n    input: Urea'),
  )
  expect((await follow({ files: masked, answers: ignored })).status).toBe(0)

  // As if the service had answered with a pixel that the manifest says is none.
  const nodata = await loadAs('2026-12', { ...INSTITUTE, ...below }, (text) =>
    text.replace('    input: Urea', '    nodata: 130\n    input: Urea'),
  )
  const wrong = JSON.parse(String(nodata.answer))
  expect(wrong.fertilizer_data).toHaveLength(1)
  wrong.fertilizer_data.push({ fertilizer_type: 'Urea', scenario: 'Normal', rate_kg_ha: 130 })
  const claimed = { ...nodata, answer: Buffer.from(JSON.stringify(wrong)) }
  const { status, stdout } = await follow({ answers: claimed })
  expect(status).not.toBe(0)
  expect(stdout).toMatch(/Signature Verified Successfully/)
})

interface Followed {
  /** Of the institute: names and paths. */
  files?: Record<string, string>
  changes?: Record<string, Buffer>
  answers?: Record<string, Buffer>
  inside?: string
}

/** Follows the guide in a folder with the files of the institute alone, the first of which is its `FILE`. */
async function follow({ files = INSTITUTE, changes = {}, answers = served, inside = '' }: Followed = {}) {
  const folder = await newFolder()
  for (const [name, path] of Object.entries(files)) await copyFile(path, join(folder, name))
  for (const [name, bytes] of Object.entries(answers)) await writeFile(join(folder, `from.${name}`), bytes)
  for (const [name, bytes] of Object.entries(changes)) await writeFile(join(folder, name), bytes)
  const [file] = Object.keys(files)
  const commands = script.replace(/FILE=\S+ INSIDE= /, `FILE=${file} INSIDE=${inside} `)
  const { status, stdout, stderr } = spawnSync('bash', ['-c', commands], { cwd: folder, encoding: 'utf8' })
  return { status, stderr, stdout, proven: stdout.slice(stdout.indexOf('{')) }
}
