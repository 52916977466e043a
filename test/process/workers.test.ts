import cluster from 'node:cluster'
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, test, vi } from 'vitest'
import { createWorkers } from '#src/primary.ts'
import { PATIENCE } from '#test/setup/patience.ts'

/** Where no process can be started: Node says so with an error in place of an exit. */
const NOWHERE = '/nowhere'

const SOON_HANGING = { everyMs: 100, untilHanging: 10, untilKilled: 1_000_000 }

let workers: ReturnType<typeof createWorkers>
let said: string[]
/** Where workers listen; after the end of all of them, elsewhere. */
let port: number

cluster.on('listening', (_, address) => {
  port = address.port
})

afterEach(async () => {
  vi.restoreAllMocks()
  await workers.stop(0)
})

test('a worker that ends is replaced, after longer pauses where no process can be started', async () => {
  await start()
  await waitForBoth()
  cluster.setupPrimary({ cwd: NOWHERE })
  signalFirst('SIGKILL')
  await vi.waitFor(() => expect(said).toHaveLength(2), PATIENCE)
  vi.spyOn(cluster, 'fork').mockImplementationOnce(() => {
    throw new Error('spawn ENOMEM')
  })
  await vi.waitFor(() => expect(said).toHaveLength(3), PATIENCE)
  expect(said[0]).toBe('worker 1 ended (SIGKILL): another one starts at once')
  expect(said[1]).toMatch(/^worker 1 ended \(spawn .* ENOENT\): another one starts after 0.5 s$/)
  expect(said[2]).toBe('worker 1 ended (spawn ENOMEM): another one starts after 1 s')
  for (let n = 0; n < 4; n++) expect(await ask()).toBe('worker 2')
  cluster.setupPrimary({ cwd: undefined })
  await waitForBoth()
})

test('a worker that ends before others have answered is replaced', async () => {
  const started = start({ settings: { late: 2 } })
  const [, late] = Object.values(cluster.workers ?? {})
  // The late one has its settings before it is told to drain.
  await Promise.all([
    new Promise((resolve) => late?.once('message', resolve)),
    new Promise((resolve) => cluster.once('listening', resolve)),
  ])
  signalFirst('SIGKILL')
  await vi.waitFor(
    () => expect(said).toEqual(['worker 1 ended (SIGKILL): another one starts at once']),
    PATIENCE,
  )
  late?.send('drain')
  expect(await started).toBeGreaterThan(0)
  await waitForBoth()
})

test('where a process cannot be started with the service, there are no workers, and it is said why', async () => {
  vi.spyOn(cluster, 'fork').mockImplementationOnce(() => {
    throw new Error('spawn ENOMEM')
  })
  expect(await start()).toBe(undefined)
  expect(said).toEqual(['worker 1 could not start (spawn ENOMEM)'])
})

test('a worker that hangs gets no connections until it answers again', async () => {
  await start({ pings: SOON_HANGING })
  signalFirst('SIGSTOP')
  for (let n = 0; n < 8; n++) expect(await ask()).toBe('worker 2')
  await vi.waitFor(() => {
    expect(said).toContain('worker 1 has not answered for 1 s: it gets no connections')
  }, PATIENCE)
  expect(await metrics()).toContain('agro_workers_hanging 1')
  signalFirst('SIGCONT')
  await vi.waitFor(() => expect(said).toContain('worker 1 answers again'), PATIENCE)
  await waitForBoth()
  expect(await metrics()).toContain('agro_workers_killed_total 0')
})

const says = (end: string) => vi.waitFor(() => expect(said.at(-1)).toBe(`worker 1 ${end}`), PATIENCE)

test('connections wait where the only worker hangs', async () => {
  await start({ count: 1, pings: SOON_HANGING })
  signalFirst('SIGSTOP')
  const answers = [ask(), ask()]
  await says('has not answered for 1 s: it gets no connections')
  signalFirst('SIGCONT')
  expect(await Promise.all(answers)).toEqual(['worker 1', 'worker 1'])
  await says('answers again')
})

const SOON_KILLED = { everyMs: 100, untilHanging: 10, untilKilled: 30 }

test('a worker is killed and replaced when it has hung for long', async () => {
  await start({ count: 1, pings: SOON_KILLED })
  signalFirst('SIGSTOP')
  await says('ended (SIGKILL): another one starts at once')
  expect(said.at(-2)).toBe('worker 1 has not answered for 3 s: it is killed')
  await vi.waitFor(async () => expect(await metrics()).toContain('agro_workers_replaced_total 1'), PATIENCE)
  expect(await metrics()).toContain('agro_workers_killed_total 1')
})

test('workers that end together leave all that they have counted, and nothing that they held', async () => {
  await start({ count: 3 })
  expect(await metrics()).toEqual(expect.arrayContaining(['answers_total 1110', 'tiles 3']))
  vi.spyOn(cluster, 'fork').mockImplementation(() => {
    throw new Error('spawn ENOMEM')
  })
  signalFirst('SIGKILL')
  Object.values(cluster.workers ?? {})[1]?.process.kill('SIGKILL')
  await vi.waitFor(async () => expect(await metrics()).toContain('tiles 1'), PATIENCE)
  expect(await metrics()).toContain('answers_total 1110')
  await workers.stop(0)
  expect(await metrics()).toContain('answers_total 1110')
})

const EXEC = fileURLToPath(new URL('./worker-process.mjs', import.meta.url))

const NEVER = { everyMs: 1_000_000, untilHanging: 5, untilKilled: 30 }

/** Real processes that do nothing but answer. */
function start({ settings = {}, count = 2, pings = NEVER } = {}): Promise<number | undefined> {
  cluster.setupPrimary({ exec: EXEC, args: [], cwd: undefined, serialization: 'advanced' })
  said = []
  workers = createWorkers(count, settings, (message) => said.push(message), pings)
  return workers.start()
}

/** The oldest process, which is that of worker 1 until it ends. */
function signalFirst(signal: NodeJS.Signals): void {
  Object.values(cluster.workers ?? {})[0]?.process.kill(signal)
}

/** The answer of a worker over a connection. */
async function ask(): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  return text(socket)
}

async function waitForBoth(): Promise<void> {
  const seen = new Set<string>()
  await vi.waitFor(async () => {
    for (const answer of await Promise.all(Array.from({ length: 8 }, () => ask()))) seen.add(answer)
    expect([...seen].sort()).toEqual(['worker 1', 'worker 2'])
  }, PATIENCE)
}

async function metrics(): Promise<string[]> {
  const lines = (await workers.readMetrics()).split('\n')
  return lines.filter((line) => /^(answers_total|tiles|agro_workers_\w+) /.test(line))
}
