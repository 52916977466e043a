import cluster from 'node:cluster'
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { Config } from '#src/config.ts'
import { type Front, openFront } from '#src/primary.ts'
import { createWorkerPool, type Member, type Pings, type WorkerPool } from '#src/workers.ts'
import { PATIENCE } from '#test/setup/patience.ts'

const EXEC = fileURLToPath(new URL('../setup/worker-process.mjs', import.meta.url))

/** Where no process can be started: Node says so with an error in place of an exit. */
const NOWHERE = '/nowhere'

const NEVER: Pings = { everyMs: 1_000_000, untilHanging: 5, untilKilled: 30 }

const members = new Set<Member>()
const loaded = new Set<Member>()

/** Real processes that do nothing but answer. */
async function start(
  said: string[],
  {
    config = {},
    workers = 2,
    answers = () => front?.admit(),
    pings = NEVER,
  }: { config?: object; workers?: number; answers?: (member: Member) => void; pings?: Pings } = {},
): Promise<boolean> {
  cluster.setupPrimary({ exec: EXEC, args: [], cwd: undefined, serialization: 'advanced' })
  workerPool = createWorkerPool({
    config: config as Config,
    workers,
    say: (message) => said.push(message),
    hear(member, { kind }) {
      members.add(member)
      if (kind === 'loaded') loaded.add(member)
    },
    left: (member) => void members.delete(member),
    answers,
    returned: (socket) => front?.handOver(socket),
    pings,
  })
  return workerPool.start()
}

const numbersOf = () => workerPool.ready().map(({ number }) => number)

const memberOf = (number: number) => workerPool.ready().find((member) => member.number === number) as Member

let workerPool: WorkerPool
let front: Front | undefined

afterEach(async () => {
  vi.restoreAllMocks()
  workerPool.retire()
  await front?.close()
  front = undefined
  const left = [...members]
  for (const member of left) member.kill()
  await Promise.all(left.map(({ ended }) => ended))
})

describe('a worker has another one take its place', () => {
  test('also where the process cannot be started, after longer and longer pauses', async () => {
    const said: string[] = []
    await start(said)
    cluster.setupPrimary({ cwd: NOWHERE })
    memberOf(2).kill()
    await vi.waitFor(() => expect(said).toHaveLength(2), PATIENCE)
    expect(said[0]).toBe('worker 2 ended (SIGKILL): another one starts at once')
    expect(said[1]).toMatch(/^worker 2 ended \(spawn .* ENOENT\): another one starts after 0.5 s$/)
    expect(numbersOf()).toEqual([1])
    cluster.setupPrimary({ cwd: undefined })
    await vi.waitFor(() => expect(numbersOf()).toEqual([1, 2]), PATIENCE)
  })

  test('also where there is no memory to start it, which Node throws', async () => {
    const said: string[] = []
    await start(said)
    vi.spyOn(cluster, 'fork').mockImplementationOnce(() => {
      throw new Error('spawn ENOMEM')
    })
    memberOf(1).kill()
    await vi.waitFor(() => expect(numbersOf()).toEqual([2, 1]), PATIENCE)
    expect(said).toEqual([
      'worker 1 ended (SIGKILL): another one starts at once',
      'worker 1 ended (spawn ENOMEM): another one starts after 0.5 s',
    ])
  })

  test('also where it ends while others have not answered yet', async () => {
    const said: string[] = []
    let times = 0
    await start(said, {
      config: { late: 2 },
      async answers(member) {
        times++
        if (times > 1) return
        member.kill()
        await member.ended
        const other = () => [...members].find((member) => member.number === 2 && loaded.has(member))
        await vi.waitFor(() => expect(other()).toBeDefined(), PATIENCE)
        other()?.tell({ kind: 'drain' })
      },
    })
    await vi.waitFor(() => expect(numbersOf().sort()).toEqual([1, 2]), PATIENCE)
    expect(said).toEqual(['worker 1 ended (SIGKILL): another one starts at once'])
  })
})

test('where a process cannot be started with the service, there is no pool, and it is said why', async () => {
  const said: string[] = []
  vi.spyOn(cluster, 'fork').mockImplementationOnce(() => {
    throw new Error('spawn ENOMEM')
  })
  expect(await start(said)).toBe(false)
  expect(said).toEqual(['worker 1 could not start (spawn ENOMEM)'])
})

/** Opens the port of the pool. */
async function open(): Promise<Front> {
  const config = { HOST: '127.0.0.1', PORT: 0, MAX_CONNECTIONS: 8 } as Config
  front = await openFront(config, workerPool)
  return front
}

/** What a worker says over a connection. */
async function answerOf({ port }: Front): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  return text(socket)
}

/** Has worker 1 stand still, and gives what sends it signals. */
function stop(): (signal: NodeJS.Signals) => void {
  const [stopped] = Object.values(cluster.workers ?? {}).filter((worker) => worker?.isConnected())
  const signal = (signal: NodeJS.Signals) => void stopped?.process.kill(signal)
  signal('SIGSTOP')
  return signal
}

test('connections on their way to a worker that ends go to another one, but for one that may have got there', async () => {
  await start([])
  const front = await open()
  const signal = stop()
  const answers: string[] = []
  const ends = Array.from({ length: 8 }, async () => answers.push(await answerOf(front)))
  await vi.waitFor(() => expect(answers).toHaveLength(4), PATIENCE)
  signal('SIGKILL')
  await Promise.all(ends)
  expect(answers.map((answer) => answer.replace(/\d/, ''))).toEqual([
    ...Array(4).fill('worker '),
    '',
    ...Array(3).fill('worker '),
  ])
  // None of them counts any more among those that are let in.
  for (let n = 0; n < 8; n++) expect(await answerOf(front)).toMatch(/^worker \d$/)
})

describe('a worker that hangs', () => {
  /** The other one may be slow for a moment, too, on a busy machine. */
  const ofFirst = (said: string[]) => said.filter((message) => message.startsWith('worker 1'))

  test('gets no connections until it answers again', async () => {
    const said: string[] = []
    await start(said, { pings: { everyMs: 100, untilHanging: 10, untilKilled: 1_000_000 } })
    const front = await open()
    const signal = stop()
    const answers: string[] = []
    const early = Array.from({ length: 8 }, async () => answers.push(await answerOf(front)))
    await vi.waitFor(() => expect(workerPool.hanging()).toBe(1), PATIENCE)
    expect(answers).toEqual(Array(4).fill('worker 2'))
    expect(ofFirst(said)).toEqual(['worker 1 has not answered for 1 s: it gets no connections'])
    expect(numbersOf()).toEqual([2])
    for (let n = 0; n < 4; n++) expect(await answerOf(front)).toBe('worker 2')

    signal('SIGCONT')
    await Promise.all(early)
    await vi.waitFor(() => expect(numbersOf()).toEqual([1, 2]), PATIENCE)
    expect(answers).toEqual([...Array(4).fill('worker 2'), ...Array(4).fill('worker 1')])
    expect(ofFirst(said).slice(1)).toEqual(['worker 1 answers again'])
    expect([workerPool.hanging(), workerPool.killed()]).toEqual([0, 0])
    const later = [await answerOf(front), await answerOf(front)]
    expect(later.sort()).toEqual(['worker 1', 'worker 2'])
  })

  test('has connections wait where there is no other, until it answers again', async () => {
    await start([], {
      workers: 1,
      pings: { everyMs: 100, untilHanging: 10, untilKilled: 1_000_000 },
    })
    const front = await open()
    const signal = stop()
    await vi.waitFor(() => expect(workerPool.hanging()).toBe(1), PATIENCE)
    const answers = [answerOf(front), answerOf(front)]
    signal('SIGCONT')
    expect(await Promise.all(answers)).toEqual(['worker 1', 'worker 1'])
  })

  test('is killed when it has hung for long, and replaced', async () => {
    const said: string[] = []
    await start(said, {
      workers: 1,
      pings: { everyMs: 100, untilHanging: 10, untilKilled: 30 },
    })
    const front = await open()
    stop()
    const answer = answerOf(front)
    await vi.waitFor(() => expect(workerPool.replaced()).toBe(1), PATIENCE)
    await vi.waitFor(() => expect(numbersOf()).toEqual([1]), PATIENCE)
    expect(said).toEqual([
      'worker 1 has not answered for 1 s: it gets no connections',
      'worker 1 has not answered for 3 s: it is killed',
      'worker 1 ended (SIGKILL): another one starts at once',
    ])
    expect([workerPool.hanging(), workerPool.killed()]).toEqual([0, 1])
    // It may have got that far.
    expect(await answer).toBe('')
    expect(await answerOf(front)).toBe('worker 1')
  })
})
