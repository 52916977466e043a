// Runs on a server alone: a process that ends leaves the embedded database its folder, since the kernel holds the lock.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { createTestDatabase, type TestDatabase } from '#test/setup/database.ts'
import { PATIENCE } from '#test/setup/patience.ts'

let testDatabase: TestDatabase
beforeEach(async () => {
  testDatabase = await createTestDatabase('empty')
  return () => testDatabase.drop()
})

test.each(['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGKILL'] as const)(
  '%s to npm ends the service in order',
  async (signal) => {
    const { npm, service, said } = await start('exec npm start')
    process.kill(npm, signal)
    await hasEnded(service)
    expect(said()).toMatch(/stopping/)
  },
)

test('a terminal that goes away ends the service in order, and npm', async () => {
  const { shell, npm, service, said } = await start('exec npm start')
  for (const pid of [service, npm]) process.kill(pid, 'SIGHUP')
  await once(shell, 'exit')
  await hasEnded(service)
  expect(said()).toMatch(/stopping/)
})

test('a service in the background, under nohup and a timeout, ends in order by the signal that the timeout gets', async () => {
  const { shell, service, said } = await start('nohup timeout 1d npm start & echo "timeout $!"; wait')
  const [, timeout] = /^timeout (\d+)$/m.exec(said()) as RegExpExecArray
  process.kill(Number(timeout), 'SIGTERM')
  await once(shell, 'exit')
  await hasEnded(service)
  expect(said()).toMatch(/stopping/)
})

test('Ctrl-C at a terminal ends the service in order, with code 0', async () => {
  const { shell, npm, said } = await start(
    'exec script --quiet --return --command "exec npm start" /dev/null',
  )
  // To all processes of the terminal, as its driver does.
  process.kill(-npm, 'SIGINT')
  expect(await once(shell, 'exit')).toEqual([0, null])
  expect(said()).toMatch(/stopping/)
})

interface Started {
  shell: ChildProcess
  /** Of the processes of `npm start`, by what they run. */
  npm: number
  service: number
  said: () => string
}

/** A process, and all that descend from it. */
function familyOf(ancestor: number): { pid: number; command: string }[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const all = pids.flatMap((pid) => {
    try {
      const parent = Number(
        readFileSync(`/proc/${pid}/stat`, 'utf8')
          .replace(/.*\) \S /s, '')
          .split(' ')[0],
      )
      return [{ pid: Number(pid), parent, command: readFileSync(`/proc/${pid}/cmdline`, 'utf8') }]
    } catch {
      // It has ended meanwhile.
      return []
    }
  })
  const family = all.filter(({ pid }) => pid === ancestor)
  for (const member of family) family.push(...all.filter(({ parent }) => parent === member.pid))
  return family
}

/** Runs a line of a shell that starts the service by `npm start`, in a session of its own, until it is ready. */
async function start(line: string): Promise<Started> {
  const shell = spawn('sh', ['-c', line], {
    env: { ...process.env, ...testDatabase.environment, PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const pid = shell.pid as number
  onTestFinished(() => {
    for (const member of familyOf(pid)) {
      try {
        process.kill(member.pid, 'SIGKILL')
      } catch {
        // It has ended meanwhile.
      }
    }
  })
  let said = ''
  for (const stream of [shell.stdout, shell.stderr]) {
    stream?.setEncoding('utf8').on('data', (text) => {
      said += text
    })
  }
  await vi.waitFor(() => expect(said).toMatch(/ready in/), PATIENCE)
  const family = familyOf(pid)
  const pidOf = (command: RegExp) => family.find((member) => command.test(member.command))?.pid as number
  return { shell, npm: pidOf(/^npm/), service: pidOf(/^node\0.*server\.ts/), said: () => said }
}

/** Whether a process is there, and has not ended. */
function isThere(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

const hasEnded = (pid: number) => vi.waitFor(() => expect(isThere(pid)).toBe(false), PATIENCE)
