import cluster from 'node:cluster'
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { Config } from '#src/config.ts'
import { type Crew, type Member, startCrew } from '#src/process/crew.ts'
import { type Front, openFront } from '#src/process/front.ts'
import { PATIENCE } from '#test/setup/patience.ts'

const EXEC = fileURLToPath(new URL('../setup/crew-worker.mjs', import.meta.url))

/** Where no process can be started: Node says so with an error in place of an exit. */
const NOWHERE = '/nowhere'

const members = new Set<Member>()
const loaded = new Set<Member>()

/** Two real processes that do nothing but answer. */
function start(
  said: string[],
  { config = {}, answers = () => {} }: { config?: object; answers?: (member: Member) => void } = {},
): Promise<Crew | undefined> {
  cluster.setupPrimary({ exec: EXEC, args: [], cwd: undefined, serialization: 'advanced' })
  return startCrew({
    config: config as Config,
    workers: 2,
    say: (message) => said.push(message),
    answers,
    returned: (socket) => front?.handOver(socket),
    joined(member) {
      members.add(member)
      return {
        hear: ({ kind }) => void (kind === 'loaded' && loaded.add(member)),
        left: () => void members.delete(member),
      }
    },
  })
}

const numbersOf = (crew: Crew | undefined) => crew?.ready().map(({ number }) => number)

const memberOf = (crew: Crew | undefined, number: number) =>
  crew?.ready().find((member) => member.number === number) as Member

let crew: Crew | undefined
let front: Front | undefined

afterEach(async () => {
  vi.restoreAllMocks()
  crew?.retire()
  crew = undefined
  await front?.close()
  front = undefined
  const left = [...members]
  for (const member of left) member.kill()
  await Promise.all(left.map(({ ended }) => ended))
})

describe('a worker has another one take its place', () => {
  test('also where the process cannot be started, after longer and longer pauses', async () => {
    const said: string[] = []
    crew = await start(said)
    cluster.setupPrimary({ cwd: NOWHERE })
    memberOf(crew, 2).kill()
    await vi.waitFor(() => expect(said).toHaveLength(2), PATIENCE)
    expect(said[0]).toBe('worker 2 ended (SIGKILL): another one starts at once')
    expect(said[1]).toMatch(/^worker 2 ended \(spawn .* ENOENT\): another one starts after 0.5 s$/)
    expect(numbersOf(crew)).toEqual([1])
    cluster.setupPrimary({ cwd: undefined })
    await vi.waitFor(() => expect(numbersOf(crew)).toEqual([1, 2]), PATIENCE)
  })

  test('also where there is no memory to start it, which Node throws', async () => {
    const said: string[] = []
    crew = await start(said)
    vi.spyOn(cluster, 'fork').mockImplementationOnce(() => {
      throw new Error('spawn ENOMEM')
    })
    memberOf(crew, 1).kill()
    await vi.waitFor(() => expect(numbersOf(crew)).toEqual([2, 1]), PATIENCE)
    expect(said).toEqual([
      'worker 1 ended (SIGKILL): another one starts at once',
      'worker 1 ended (spawn ENOMEM): another one starts after 0.5 s',
    ])
  })

  test('also where it ends while others have not answered yet', async () => {
    const said: string[] = []
    let times = 0
    crew = await start(said, {
      config: { late: 2 },
      async answers(member) {
        times++
        if (times > 1) return
        member.kill()
        await member.ended
        const [other] = [...members].filter(({ number }) => number === 2) as [Member]
        await vi.waitFor(() => expect(loaded).toContain(other), PATIENCE)
        other.tell({ kind: 'drain' })
      },
    })
    await vi.waitFor(() => expect(numbersOf(crew)?.sort()).toEqual([1, 2]), PATIENCE)
    expect(said).toEqual(['worker 1 ended (SIGKILL): another one starts at once'])
  })
})

test('where a process cannot be started with the service, there is no crew, and it is said why', async () => {
  const said: string[] = []
  vi.spyOn(cluster, 'fork').mockImplementationOnce(() => {
    throw new Error('spawn ENOMEM')
  })
  expect(await start(said)).toBeUndefined()
  expect(said).toEqual(['worker 1 could not start (spawn ENOMEM)'])
})

test('connections on their way to a worker that ends go to another one, but for one that may have got there', async () => {
  crew = await start([])
  front = await openFront(
    { HOST: '127.0.0.1', PORT: 0, MAX_CONNECTIONS: 8 } as Config,
    () => crew?.ready() ?? [],
  )
  const [stopped] = Object.values(cluster.workers ?? {}).filter((worker) => worker?.isConnected())
  stopped?.process.kill('SIGSTOP')
  const answers: string[] = []
  const ends = Array.from({ length: 8 }, async () => {
    const socket = connect(front?.port as number, '127.0.0.1')
    await once(socket, 'connect')
    answers.push(await text(socket))
  })
  await vi.waitFor(() => expect(answers).toHaveLength(4), PATIENCE)
  stopped?.process.kill('SIGKILL')
  await Promise.all(ends)
  expect(answers.map((answer) => answer.replace(/\d/, ''))).toEqual([
    ...Array(4).fill('worker '),
    '',
    ...Array(3).fill('worker '),
  ])
  // None of them counts any more among those that are let in.
  for (let n = 0; n < 8; n++) {
    const socket = connect(front.port, '127.0.0.1')
    expect(await text(socket)).toMatch(/^worker \d$/)
  }
})
