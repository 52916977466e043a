import { execFile, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import type { InjectOptions } from 'fastify'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { runAgro } from '#test/setup/cli.ts'
import { newFolder } from '#test/setup/folders.ts'
import { startProcess } from '#test/setup/service-process.ts'

const OPEN_CALLS = 6
const ALL_CALLS = 12

let service: TestApp
let url: string
beforeAll(async () => {
  service = await createTestApp()
  url = await service.app.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(() => service.close())

const tour = (...parameters: string[]) => runAgro({ environment: {} }, 'tour', ...parameters)

/** Sentences may be broken anywhere between words. */
const unwrapped = (text: string) => text.replaceAll('\n', ' ')

const accounts = async () => {
  const users = await service.database.writer.selectFrom('app_user').select('id').execute()
  return users.length
}

describe('a tour of a service that runs', () => {
  test('makes the calls that it shows, each answered as it tells, and leaves no account', async () => {
    const { code, stdout, stderr } = await tour('--url', url, '--account')
    expect([code, stderr]).toEqual([0, ''])
    const titles = [...stdout.matchAll(/^(\d+) of 12: /gm)].map(([, number]) => Number(number))
    expect(titles).toEqual(Array.from({ length: ALL_CALLS }, (_, index) => index + 1))
    expect(stdout).toContain(
      `curl '${url}/advisory/yield/point?lat=9.5&lng=38.5&crop=wheat&country_code=eth'`,
    )
    expect(stdout).toContain('{"scenario": "Normal", "yield_kg_ha": 3694}')
    expect(stdout).toContain('304\n(no body)\n')
    expect(stdout).toContain('"code": "OUTSIDE_COUNTRY"')
    expect(stdout).toContain('-H "Authorization: Bearer $TOKEN"')
    expect(stdout).not.toContain('\u001b')
    expect(await accounts()).toBe(0)
  })

  test('asks what everybody may, where it is not told to make an account', async () => {
    const { code, stdout } = await tour('--url', `${url}/`)
    expect(code).toBe(0)
    expect(stdout.match(/^\d+ of 6: /gm)).toHaveLength(OPEN_CALLS)
    expect(unwrapped(stdout)).toContain('with --account the tour makes one there.')
  })

  test('is JSON for programs', async () => {
    const { code, stdout } = await tour('--url', url, '--json')
    expect(code).toBe(0)
    const { calls } = JSON.parse(stdout)
    expect(
      calls.map(({ status, as_told }: { status: number; as_told: boolean }) => [status, as_told]),
    ).toEqual([
      [200, true],
      [200, true],
      [304, true],
      [200, true],
      [404, true],
      [200, true],
    ])
    expect(calls[1].answer).toEqual((await service.app.inject(calls[1].url)).json())
  })

  test('goes on where it is answered otherwise, says so, and ends with 1', async () => {
    const empty = await createTestApp({ template: 'empty' })
    onTestFinished(() => empty.close())
    const { code, stdout } = await tour('--url', await empty.app.listen({ host: '127.0.0.1', port: 0 }))
    expect(code).toBe(1)
    expect(unwrapped(stdout)).toContain('The tour expects 200 here.')
    expect(unwrapped(stdout)).toMatch(/\d of 6 calls were answered otherwise than the tour tells\./)
  })

  test('takes back an account that was made, though the answer to it was lost', async () => {
    let made = 0
    const before = createServer(async (request, response) => {
      const chunks = []
      for await (const chunk of request) chunks.push(chunk)
      const { method = 'GET', url: path = '/', headers } = request
      const wanted = { method, url: path, headers, payload: Buffer.concat(chunks) } as InjectOptions
      const answer = await service.app.inject(wanted)
      if (path === '/auth/register') {
        made = await accounts()
        request.socket.destroy()
        return
      }
      response.writeHead(answer.statusCode, { 'content-type': String(answer.headers['content-type']) })
      response.end(answer.rawPayload)
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void before.close())
    await once(before, 'listening')
    const { stderr } = await tour(
      '--url',
      `http://127.0.0.1:${(before.address() as AddressInfo).port}`,
      '--account',
    )
    expect([stderr, made, await accounts()]).toEqual([expect.stringContaining('does not answer'), 1, 0])
  })

  test('says in a sentence that there is no such service', async () => {
    const other = createServer((_request, response) => response.end('<h1>Hello</h1>')).listen(0, '127.0.0.1')
    await once(other, 'listening')
    const elsewhere = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
    expect(await tour('--url', elsewhere)).toEqual({
      code: 1,
      stdout: '',
      stderr: `${elsewhere} answers, but it is not this service: look at its port and its path.\n`,
    })
    other.close()
    await once(other, 'close')
    const { code, stderr } = await tour('--url', elsewhere)
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(`^${elsewhere} does not answer: .*ECONNREFUSED`),
    ])
  })

  test.each(['127.0.0.1:3000', 'ftp://x', 'http://user:word@x', 'http://x/?y', 'nowhere'])(
    'does not take %s for an address',
    async (wrong) => {
      const { code, stderr } = await tour('--url', wrong)
      expect([code, stderr]).toEqual([2, expect.stringContaining('must be the address of a service')])
    },
  )
})

/** Node has no colours where tests run by themselves, whatever the terminal. */
const COLOURS_ALLOWED = { CI: undefined, FORCE_COLOR: undefined, NODE_DISABLE_COLORS: undefined }

describe.skipIf(spawnSync('script', ['--version']).error)('a tour at a terminal', () => {
  /** What is seen there, where `keys` are typed one after the other, each when the tour waits. */
  async function seen(keys: string[], environment: NodeJS.ProcessEnv): Promise<string> {
    // The shell hears Ctrl-C as well, and is to say how the tour ended.
    const command = `trap : INT; stty cols 60; ${process.execPath} bin/run.mjs src/cli/agro.ts tour --account --url ${url}; echo "ended $?"`
    const run = promisify(execFile)('script', ['-qec', command, '/dev/null'], {
      env: { ...process.env, SHELL: '/bin/sh', TERM: 'xterm', ...COLOURS_ALLOWED, ...environment },
    })
    let pressed = 0
    run.child.stdout?.on('data', (text: string) => {
      if (text.endsWith('q ends. ')) run.child.stdin?.write(keys[pressed++] ?? '\n')
    })
    return (await run).stdout
  }

  test('waits for Enter, fits its width, has colours, and ends by q', async () => {
    const text = await seen(['\n', 'q\n'], { NO_COLOR: undefined })
    expect(text.match(/\d+ of 12: /g)).toEqual(['1 of 12: ', '2 of 12: '])
    expect(text).toContain('\u001b[1m1 of 12: What is published?\u001b[22m')
    expect(text).toMatch(/ended 0\r\n$/)
    expect(text).toContain('The catalog lists countries, crops, products and releases,\r\nand says what')
  })

  test('has no colours with NO_COLOR, and takes its account back on Ctrl-C', async () => {
    const text = await seen([...Array(OPEN_CALLS + 2).fill('\n'), '\u0003'], { NO_COLOR: '1' })
    expect(text).not.toContain('\u001b[')
    expect(text).toContain('9 of 12: ')
    expect(text).toMatch(/ended 130\r\n$/)
    expect(await accounts()).toBe(0)
  })
})

test('a tour of its own starts from nothing, and leaves nothing', async () => {
  const TMPDIR = await newFolder()
  // No setting counts: this database would not answer, and there is no such log level.
  const environment = { TMPDIR, DATABASE_URL: 'postgres://127.0.0.1:1/nowhere', LOG_LEVEL: 'loud' }
  const own = startProcess('src/cli/agro.ts', environment, 'tour', '--no-wait')
  expect(await own.ended).toBe(0)
  expect(own.stdout().match(/^\d+ of 12: /gm)).toHaveLength(ALL_CALLS)
  expect(own.stdout()).not.toContain('The tour expects')
  expect(own.stderr()).toMatch(/seeding synthetic demo data/)
  expect(readdirSync(TMPDIR)).toEqual([])
})
