import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { freePort } from '#bench/processes.ts'
import type { ErrorCode } from '#src/errors.ts'
import { newFolder } from '#test/setup/folders.ts'
import { PATIENCE } from '#test/setup/patience.ts'

/** Debian's package `haproxy` has it, in a folder that only root looks into. */
const PATH = `${process.env.PATH}:/usr/sbin`
const isMissing = spawnSync('haproxy', ['-v'], { env: { PATH } }).error !== undefined
if (isMissing) console.log('haproxy is not there: the configuration of several processes is not tried')

test.skipIf(isMissing)(
  'HAProxy in front of several processes, none of which is there, says so as the service would: in JSON, and that one may try again',
  async () => {
    const folder = await newFolder()
    const file = join(folder, 'haproxy.cfg')
    await copyFile('ops/nodes/haproxy.cfg', file)
    const address = `127.0.0.1:${await freePort()}`
    await appendFile(file, `  server node-1 ${address}\n  server last-1 ${address} backup no-check\n`)
    const port = await freePort()
    const env = { PATH, NODES_FOLDER: folder, NODES_HOST: '127.0.0.1', NODES_PORT: String(port) }
    const child = spawn('haproxy', ['-q', '-db', '-f', file], { env, stdio: 'inherit' })
    onTestFinished(async () => {
      child.kill()
      await once(child, 'exit')
    })
    const ask = () => fetch(`http://127.0.0.1:${port}/advisory/yield/point?lat=9.5&lng=38.5`)
    const answer = await vi.waitFor(ask, PATIENCE)
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
    expect(answer.headers.get('content-type')).toBe('application/json')
    expect(await answer.json()).toEqual({
      error: 'The service cannot answer at present; try again.',
      code: 'OVERLOADED' satisfies ErrorCode,
    })
  },
)
