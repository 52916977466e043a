import { execFile, spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { OPERATOR_CODES } from '#src/errors.ts'
import { fixture, manifestText, writeManifest } from '#test/ingest/fixtures.ts'
import { writeTiff } from '#test/ingest/tiff.ts'
import { runAgro } from '#test/setup/cli.ts'
import { createTestDatabase, type TestDatabase } from '#test/setup/database.ts'
import { newFolder } from '#test/setup/folders.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { startProcess } from '#test/setup/service-process.ts'

describe('commands', () => {
  let testDatabase: TestDatabase
  let client: pg.Client
  beforeAll(async () => {
    testDatabase = await createTestDatabase('empty')
    client = new pg.Client(testDatabase.config.DATABASE_URL)
    await client.connect()
    await client.query(
      `insert into release (code, product, country_code, crop_code, forecast_period, version, source, licence, checksum)
       values ('incomplete', 'yield', 'eth', 'wheat', '2031-01-01', 1, '-', '-', '-')`,
    )
    await agro('users', 'create', 'a@example.org', '--name', 'A')
  })
  afterAll(async () => {
    await client.end()
    await testDatabase.drop()
  })

  const agro = (...parameters: string[]) => runAgro(testDatabase, ...parameters)

  test.each([
    [['releases', 'delete', 'incomplete'], 'This deletes the release incomplete with its data, for good'],
    [['countries', 'remove', 'gha'], 'This removes the country gha with its names'],
    [['crops', 'remove', 'wheat'], 'This removes the crop wheat with its names'],
    [
      ['users', 'delete', 'a@example.org'],
      'This deletes the account a@example.org with its history, sessions and keys, for good',
    ],
  ])('destroy nothing where nobody can be asked: %j', async (parameters, deed) => {
    expect(await agro(...parameters)).toEqual({
      code: 1,
      stdout: '',
      stderr: `${deed}: there is no terminal to confirm it. Add --yes.\n`,
    })
  })

  test.skipIf(spawnSync('script', ['--version']).error)(
    'ask at a terminal, and take no for one',
    async () => {
      const { stdout } = await atTerminal('users delete a@example.org', 'n\n')
      expect(stdout).toMatch(/for good\. Go on\? \[y\/N\] [\s\S]*Nothing was done\.\r\n$/)
      expect((await atTerminal('users delete a@example.org', 'y\n')).stdout).toContain(
        'a@example.org is deleted: accounts 1',
      )
    },
  )

  test.skipIf(spawnSync('script', ['--version']).error)(
    'take a password at a terminal without showing it',
    async () => {
      const password = 'and is cut before the rain'
      const { stdout } = await atTerminal(
        'users create typed@example.org --name Typed --password',
        `${password}\n`,
        `${password}\n`,
      )
      expect(stdout).toMatch(/Password: [\s\S]*The same again: [\s\S]*has an account with the role user\./)
      expect(stdout).not.toContain(password)
    },
  )

  /** Runs a command at a terminal of its own, where a line is typed at each question. */
  async function atTerminal(command: string, ...lines: string[]): Promise<{ stdout: string }> {
    const run = promisify(execFile)(
      'script',
      ['-qec', `${process.execPath} bin/run.mjs src/cli/agro.ts ${command}`, '/dev/null'],
      { env: { ...process.env, ...testDatabase.environment } },
    )
    let asked = 0
    run.child.stdout?.on('data', (text: string) => {
      if (/(\? \[y\/N\]|Password:|The same again:) $/.test(text)) run.child.stdin?.write(lines[asked++])
    })
    // What fails is seen in what is shown.
    return run.catch((error) => error)
  }

  test('with --json, what is not done is one document on stdout with a code that stays', async () => {
    const folder = await newFolder()
    const cut = join(folder, 'cut.geojson')
    await writeFile(cut, '{"type":"FeatureCollection","features":[')
    const load = (file: string) => ['boundaries', file, '--country', 'eth', '--level', '1']
    const exported = join(folder, 'all.agro')
    await agro('export', exported)
    const cases: [code: number, name: string, parameters: string[], settings?: Record<string, string>][] = [
      [1, 'NOT_FOUND', ['releases', 'delete', 'nope']],
      [1, 'NOT_FOUND', ['users', 'delete', 'nobody@example.org']],
      [1, 'NOT_FOUND', load(join(folder, 'none.geojson'))],
      [1, 'CUT_OFF', load(cut)],
      [1, 'ALREADY_THERE', ['export', exported]],
      [1, 'ALREADY_THERE', ['import', exported]],
      [1, 'CONFIRMATION', ['releases', 'delete', 'incomplete']],
      [1, 'REFUSED', ['ranges', 'set', 'yield', '2', '1']],
      [1, 'SETTINGS', ['releases', 'list'], { PORT: 'eighty' }],
      [
        1,
        'DATABASE_UNAVAILABLE',
        ['releases', 'list'],
        { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' },
      ],
      [2, 'USAGE', ['releases', 'delete']],
    ]
    for (const [code, name, parameters, settings] of cases) {
      const environment = { ...testDatabase.environment, ...settings }
      const result = await runAgro({ environment }, ...parameters, '--json')
      const told = JSON.parse(result.stdout)
      expect([parameters, result.code, told]).toEqual([parameters, code, { error: told.error, code: name }])
      if (code === 1) expect(result.stderr).toBe(`${told.error}\n`)
    }
    await agro('releases', 'delete', 'incomplete', '--yes')
  })

  test('the document lists the codes of what is not done', async () => {
    const document = await readFile('docs/operations.md', 'utf8')
    const [, table = ''] = /\n\| code \| \|\n([\s\S]*?)\n\n/.exec(document) ?? []
    const listed = table.split('\n').flatMap((row) => (row.split('|')[1] ?? '').match(/[A-Z_]{2,}/g) ?? [])
    expect(listed.sort()).toEqual([...OPERATOR_CODES].sort())
  })

  test('write JSON alone to stdout, and findings and progress to stderr', async () => {
    const folder = await newFolder()
    await writeTiff(`${folder}/negative.tif`, {
      width: 16,
      height: 16,
      row: () => new Float32Array(16).fill(-5),
    })
    const path = await writeManifest(
      folder,
      manifestText([{ file: 'negative.tif' }], { allow: ['extent', 'range'] }),
    )
    const extent =
      'The grid of negative.tif band 1 (38, 8.84, 38.16, 9) covers 0.01 % of the extent of Ethiopia (32.9, 3.3, 48.1, 15), less than a tenth.'
    const range =
      'negative.tif band 1 has values of -5 to -5 kg/ha, but yield of wheat is plausible from 0 to 18000: is its nodata value missing, or its scale or unit wrong?'
    const findings = [
      { check: 'extent', level: 'error', sentence: extent, allowed: true },
      { check: 'range', level: 'error', sentence: range, allowed: true },
    ]
    const [extentLine, rangeLine] = [`allowed: ${extent} (extent)\n`, `allowed: ${range} (range)\n`]
    const dry = await agro('ingest', path, '--dry-run', '--json')
    expect(JSON.parse(dry.stdout)).toMatchObject({
      dryRun: true,
      published: null,
      coverages: [{ layers: [{ scenario: 'Normal', minimum: -5, maximum: -5, validCount: 256 }] }],
      findings,
    })
    expect(dry.stderr).toBe(`reading: 100 %\n${extentLine}${rangeLine}`)
    const loaded = await agro('ingest', path, '--json')
    expect(JSON.parse(loaded.stdout)).toEqual({
      release: 'yield-eth-wheat-2025-01-v1',
      loaded: true,
      published: true,
      replaced: null,
      tiles: 1,
      seconds: expect.any(Number),
      findings: JSON.parse(dry.stdout).findings,
    })
    expect(loaded.stderr).toBe(`${extentLine}loading: 100 %\n${rangeLine}`)
    const again = await agro('ingest', path, '--json')
    expect(JSON.parse(again.stdout)).toEqual({
      release: 'yield-eth-wheat-2025-01-v1',
      loaded: false,
      published: true,
    })
    const listed = await agro('releases', 'list', '--json')
    expect(JSON.parse(listed.stdout)).toMatchObject([
      { code: 'yield-eth-wheat-2025-01-v1', state: 'published' },
    ])
    expect(JSON.parse((await agro('migrate', '--json')).stdout)).toEqual({ applied: [], summarised: 0 })
  })

  test('end quietly when nobody reads on', async () => {
    const path = await writeManifest(
      await newFolder(),
      manifestText([{ file: fixture('zeros.tif') }], { allow: ['extent'] }),
    )
    const ended = await promisify(execFile)(
      'bash',
      [
        '-c',
        'set -o pipefail; "$@" 2>&1 | true; echo $?',
        ...['bash', process.execPath, 'bin/run.mjs', 'src/cli/agro.ts', 'ingest', '--dry-run', path],
      ],
      { env: { ...process.env, ...testDatabase.environment } },
    )
    expect(ended).toMatchObject({ stdout: '0\n', stderr: '' })
  })

  test('end with 130 by Ctrl-C, and say nothing', async () => {
    await client.query('begin; lock table publication')
    const waiting = startProcess(
      'src/cli/agro.ts',
      testDatabase.environment,
      ...['releases', 'publish', 'yield-eth-wheat-2025-01-v1'],
    )
    await vi.waitUntil(async () => {
      const { rowCount } = await client.query(
        'select from pg_locks join pg_database on oid = database where not granted and datname = current_database()',
      )
      return rowCount === 1
    }, PATIENCE)
    waiting.signal('SIGINT')
    expect([await waiting.ended, waiting.stdout(), waiting.stderr()]).toEqual([130, '', ''])
    await client.query('rollback')
  })

  test('say what is unexpected in one line, and where it comes from to those who ask', async () => {
    await client.query('alter table publication rename to elsewhere')
    const sentence = 'relation "publication" does not exist'
    expect(await agro('releases', 'list')).toEqual({
      code: 70,
      stdout: '',
      stderr: `Unexpected error: ${sentence} (--verbose shows where it comes from).\n`,
    })
    const verbose = await agro('releases', 'list', '--verbose')
    expect([verbose.code, verbose.stderr]).toEqual([70, expect.stringMatching(`^error: ${sentence}\n +at `)])
    await client.query('alter table elsewhere rename to publication')
  })
})
