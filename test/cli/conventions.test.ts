import { execFile, spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { OPERATOR_CODES } from '#src/errors.ts'
import { fixture, manifestText, writeManifest } from '#test/ingest/fixtures.ts'
import { runAgro } from '#test/setup/cli.ts'
import { newFolder } from '#test/setup/folders.ts'
import { ownDatabase } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { startProcess } from '#test/setup/service-process.ts'

describe('commands', () => {
  const testDatabase = ownDatabase('empty')
  let client: pg.Client
  beforeAll(async () => {
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
  })

  const agro = (...parameters: string[]) => runAgro(testDatabase, ...parameters)

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
  })

  test('the document lists the codes of what is not done', async () => {
    const document = await readFile('docs/operations.md', 'utf8')
    const [, table = ''] = /\n\| code \| \|\n([\s\S]*?)\n\n/.exec(document) ?? []
    const listed = table.split('\n').flatMap((row) => (row.split('|')[1] ?? '').match(/[A-Z_]{2,}/g) ?? [])
    expect(listed.sort()).toEqual([...OPERATOR_CODES].sort())
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
    const waiting = startProcess('src/cli/agro.ts', testDatabase.environment, ...['releases', 'list'])
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
