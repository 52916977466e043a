// Runs on a server alone: the embedded database can be opened by one process at a time.
import { once } from 'node:events'
import { cp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadRelease } from '#src/ingest/load.ts'
import { runAgro } from '#test/setup/cli.ts'
import { createTestDatabase, type TestDatabase, withDatabase } from '#test/setup/database.ts'
import { examine } from '#test/setup/examination.ts'
import { newFolder } from '#test/setup/folders.ts'
import { onePixelRelease } from '#test/setup/releases.ts'

let folder: string
let tiles: string
let settings: { TILE_STORE: string }
let source: TestDatabase
let target: TestDatabase
let code: string
const agro = (on: TestDatabase, more: Record<string, string>, ...parameters: string[]) =>
  runAgro({ ...on, environment: { ...on.environment, ...more } }, ...parameters)

beforeAll(async () => {
  folder = await newFolder()
  tiles = join(folder, 'tiles')
  settings = { TILE_STORE: String(pathToFileURL(tiles)) }
  source = await createTestDatabase('empty', settings)
  target = await createTestDatabase('empty')
  const loaded = await withDatabase(source, (database) => loadRelease(database, onePixelRelease({ Urea: 1 })))
  code = loaded.code
})
afterAll(async () => {
  await source.drop()
  await target.drop()
})

describe.sequential('releases whose tiles are in files', () => {
  test('say so where they are listed and shown', async () => {
    const { stdout } = await agro(source, {}, 'releases', 'list', '--json')
    expect(JSON.parse(stdout)).toMatchObject([{ code, store: 'files' }])
    expect((await agro(source, {}, 'releases', 'list')).stdout).toMatch(/ IN +SOURCE\n.* files +A test/)
    const shown = await agro(source, {}, 'releases', 'show', code)
    expect(shown.stdout).toMatch(/its rasters take .* in the files of TILE_STORE\n/)
  })

  test('the doctor finds their files, those that are missing, and those that nobody has', async () => {
    const well = await examine(source)
    expect(well.findings.filter(({ group }) => group === 'files').map(({ level }) => level)).toEqual([
      'ok',
      'ok',
    ])
    expect(well.of('files present')).toEqual([['ok', '1 of 1 files were looked for, and are there.']])
    const elsewhere = await examine(source, { TILE_STORE: 'postgis' })
    expect(elsewhere.of('files reachable')).toEqual([
      ['error', '1 releases have their tiles in files, and TILE_STORE names none.'],
    ])
    const copy = join(folder, 'copy')
    await cp(tiles, copy, { recursive: true })
    const [path] = (await readdir(copy, { recursive: true })).filter((name) => name.endsWith('.tif'))
    await rm(join(copy, String(path)))
    const lost = await examine(source, { TILE_STORE: String(pathToFileURL(copy)) })
    const name = String(path).slice(3)
    expect(lost.of('files present')).toEqual([
      ['error', `Of 1 files that were looked for, 1 are missing or damaged: ${name}.`],
    ])
    const away = await examine(source, { TILE_STORE: 'http://127.0.0.1:9/' })
    expect(away.of('files reachable')).toEqual([
      [
        'error',
        expect.stringMatching(/^The files at .* cannot be reached: .*: 1 releases are answered 503\.$/),
      ],
    ])
  })

  test('are named by the doctor where the extension is off', async () => {
    const off = { TILE_STORE: '', EXTENSIONS: '-tile-files' }
    const { findings, of } = await examine(source, off)
    expect(findings.filter(({ group }) => group === 'files')).toEqual([])
    expect(of('releases stores')).toEqual([
      ['error', expect.stringMatching(/^1 releases are answered 503: their tiles are in the store files,/)],
    ])
    expect((await agro(source, off, 'releases', 'list')).stdout).toMatch(/ files +A test/)
    const refused = await agro(source, { EXTENSIONS: '-tile-files' }, 'releases', 'list')
    expect(refused.stderr).toContain('TILE_STORE has no effect with EXTENSIONS=-tile-files')
  })

  test('the doctor asks a store that forbids what is not there for what is', async () => {
    let isOpen = true
    const server = createServer(async (request, response) => {
      const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(String(request.headers.range)) ?? []
      const bytes = isOpen ? await readFile(join(tiles, String(request.url))).catch(() => null) : null
      response.writeHead(bytes ? 206 : 403).end(bytes?.subarray(Number(first), Number(last) + 1))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    try {
      const store = { TILE_STORE: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
      expect((await examine(source, store)).of('files reachable')).toMatchObject([['ok', expect.anything()]])
      expect((await examine(target, store)).of('files reachable')).toMatchObject([
        ['note', expect.stringMatching(/ 403; no release has files there\.$/)],
      ])
      isOpen = false
      // As where the secret is a wrong one: nobody is to put files back for that.
      const refused = await examine(source, store)
      expect(refused.of('files reachable')).toMatchObject([['error', expect.stringContaining(' 403: 1 ')]])
      expect(refused.of('files present')).toMatchObject([['unknown', expect.stringContaining(' 403.')]])
    } finally {
      server.close()
    }
  })

  test('an export says what to copy, and an import whether it is there', async () => {
    const file = join(folder, 'all.agro')
    const exported = await agro(source, {}, 'export', file)
    expect(exported.stderr).toContain(`The tiles of 1 releases are not in it, but in 1 files`)
    const imported = await agro(target, {}, 'import', file)
    expect(imported.code).toBe(0)
    expect(imported.stderr).toContain('and TILE_STORE names none: set it to where they are')
    for (const [store, sentence] of [
      [tiles, ': 1 were looked for, and are there.'],
      [join(folder, 'none'), 'ENOENT'],
    ] as const) {
      const other = await createTestDatabase('empty', { TILE_STORE: String(pathToFileURL(store)) })
      const { stderr } = await agro(other, {}, 'import', file)
      expect(stderr).toContain(sentence)
      await other.drop()
    }
  })
})
